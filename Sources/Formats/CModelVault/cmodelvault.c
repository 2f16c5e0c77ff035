#include "CModelVault.h"

#include <stddef.h>

static void (*registered)(void) = NULL;

void coreml_vault_set_registrar(void (*registrar)(void)) { registered = registrar; }

void coreml_vault_call_registrar(void) {
  if (registered != NULL) registered();
}
