#include "CCollectionRegistration.h"

#include "CModelCollections.h"
#include "CVaultRegistration.h"

// Defined in Swift, by CoreMLDeployment.
extern void coreml_deployment_register(void);
extern void coreml_deployment_register_keys(void);

// No Swift runs here: the runtime may not be ready before `main` when it is linked statically.
__attribute__((constructor)) void coreml_collection_registration(void) {
  coreml_collections_leave_registrar(coreml_deployment_register);
  coreml_keys_leave_registrar(coreml_deployment_register_keys);
}
