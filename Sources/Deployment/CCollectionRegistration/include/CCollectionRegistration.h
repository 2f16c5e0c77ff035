#ifndef CCOLLECTIONREGISTRATION_H
#define CCOLLECTIONREGISTRATION_H

/// Leaves word, before `main` begins, that the product CoreMLDeployment is linked.
void coreml_collection_registration(void);

#endif
