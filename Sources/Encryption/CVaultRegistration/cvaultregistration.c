#include "CVaultRegistration.h"

#include "CModelVault.h"

#include <stddef.h>

// Defined in Swift, by CoreMLEncryption.
extern void coreml_encryption_register(void);

// No Swift runs here: the runtime may not be ready before `main` when it is linked statically.
__attribute__((constructor)) void coreml_vault_registration(void) {
  coreml_vault_set_registrar(coreml_encryption_register);
}

static void (*left)(void) = NULL;

void coreml_keys_leave_registrar(void (*registrar)(void)) { left = registrar; }

void coreml_keys_call_registrar(void) {
  if (left != NULL) left();
}
