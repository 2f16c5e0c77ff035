#ifndef CVAULTREGISTRATION_H
#define CVAULTREGISTRATION_H

/// Leaves word, before `main` begins, that the product CoreMLEncryption is linked.
void coreml_vault_registration(void);

/// Leaves a function that registers the client of a key service; called before `main`.
void coreml_keys_leave_registrar(void (* _Nonnull registrar)(void));

/// Calls the function that was left, if one was.
void coreml_keys_call_registrar(void);

#endif
