#include "CModelVault.h"

#include <stddef.h>

static void (*left)(void) = NULL;

void coreml_vault_leave_registrar(void (*registrar)(void)) { left = registrar; }

void coreml_vault_call_registrar(void) {
  if (left != NULL) left();
}
