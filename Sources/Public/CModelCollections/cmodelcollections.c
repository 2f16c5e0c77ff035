#include "CModelCollections.h"

#include <stddef.h>

static void (*left)(void) = NULL;

void coreml_collections_leave_registrar(void (*registrar)(void)) { left = registrar; }

void coreml_collections_call_registrar(void) {
  if (left != NULL) left();
}
