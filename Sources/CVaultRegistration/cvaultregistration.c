#include "CVaultRegistration.h"

#include "CModelVault.h"

// Defined in Swift, by CoreMLEncryption.
extern void coreml_encryption_register(void);

// No Swift runs here: the runtime may not be ready before `main` when it is linked statically.
__attribute__((constructor)) void coreml_vault_registration(void) {
  coreml_vault_leave_registrar(coreml_encryption_register);
}
