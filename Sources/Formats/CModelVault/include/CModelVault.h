#ifndef CMODELVAULT_H
#define CMODELVAULT_H

/// The place where the product that opens encrypted models leaves word that it is linked.
///
/// It is C so that a constructor can do so before any Swift runs, and so that the modules on both sides need not know each
/// other.

/// Leaves a function that registers the vault; called before `main`.
void coreml_vault_leave_registrar(void (* _Nonnull registrar)(void));

/// Calls the function that was left, if one was.
void coreml_vault_call_registrar(void);

#endif
