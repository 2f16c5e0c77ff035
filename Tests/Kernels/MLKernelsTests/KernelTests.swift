import Testing

/// All kernel tests, one after another; together they call every kernel of every instruction set of this processor.
@Suite(.serialized, .kernelCensus) enum KernelTests {}
