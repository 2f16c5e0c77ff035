#ifndef CVAULTREGISTRATION_H
#define CVAULTREGISTRATION_H

/// Leaves word, before `main` begins, that the product CoreMLEncryption is linked.
void coreml_vault_registration(void);

#endif
