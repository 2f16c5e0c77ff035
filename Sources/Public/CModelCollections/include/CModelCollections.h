#ifndef CMODELCOLLECTIONS_H
#define CMODELCOLLECTIONS_H

/// The place where the product that delivers model collections leaves word that it is linked.
///
/// It is C so that a constructor can do so before any Swift runs, and so that the modules on both sides need not know each
/// other.

/// Leaves a function that registers the provider of collections; called before `main`.
void coreml_collections_leave_registrar(void (* _Nonnull registrar)(void));

/// Calls the function that was left, if one was.
void coreml_collections_call_registrar(void);

#endif
