#ifndef CMODELVAULT_H
#define CMODELVAULT_H

/// The registration of the vault, the product that opens encrypted models, with the module that reads model files.
///
/// It is C so that a constructor can do so before any Swift runs, and so that the modules on both sides do not depend
/// on each other.

/// Sets the function that registers the vault; called before `main`.
void coreml_vault_set_registrar(void (* _Nonnull registrar)(void));

/// Calls that function, if it was set.
void coreml_vault_call_registrar(void);

#endif
