import Testing

/// All kernel tests, one after another: they switch the process's instruction set.
@Suite(.serialized) enum KernelTests {}
