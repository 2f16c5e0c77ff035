package import MLGraph
package import MLNumerics

/// The rewrites that are applied to every graph before it is planned, in order, to a fixed point.
package enum PassPipeline {
    /// Clean-up first, so that fusions match plain patterns; wide fusions before narrow ones; activations last, because
    /// a fused activation hides its producer from the others.
    package static let passes: [any Pass] = [
        RemoveIdentities(),
        UseWideIndices(),
        UpdateHalfInPlace(),
        SliceBeforeWidening(),
        ScatterIntoSlices(),
        NormalizeReshapes(),
        ComposeTransposes(),
        NormalizeTransposes(),
        ConstantMatMulToLinear(),
        FoldBatchNorm(),
        FuseBias(),
        FuseAttention(),
        ShareKeys(),
        FuseHeads(),
        ReadHalfKeys(),
        HoistReshapes(),
        FuseResidual(),
        FuseActivation(),
        UseIntegers(),
    ]

    /// The number of rounds after which the pipeline stops even if something still changes.
    private static let roundLimit = 12

    /// The rewrites that are applied once, after reading: products with constants become linears, so that their weights
    /// are known as weights and keep their precision, and everything else is widened to float32.
    package static func prepare(_ graph: Graph) throws(ModelError) -> Graph {
        let prepared = try graph.applying(ConstantMatMulToLinear()).graph.widened()
        if Verification.isOn { try prepared.verify(after: "widening") }
        return prepared
    }

    /// The graph as it is planned on this machine: fused where that depends on the machine, and with memory layouts.
    package static func layOut(_ graph: Graph) throws(ModelError) -> Graph {
        let fused = try graph.applying(FuseSeparable()).graph
        if Verification.isOn { try fused.verify(after: "fusing separable convolutions") }
        return try fused.withLayouts()
    }

    /// The graph after the passes, applied in rounds until one changes nothing.
    ///
    /// - Parameters:
    ///   - graph: The graph to rewrite.
    ///   - passes: The passes of a round, in order.
    ///   - isVerified: Whether the graph is verified after every pass that changed it; the error names the pass.
    /// - Returns: The rewritten graph.
    /// - Throws: Errors of the passes and of the verifier.
    package static func optimize(
        _ graph: Graph,
        with passes: [any Pass] = PassPipeline.passes,
        isVerified: Bool = Verification.isOn
    ) throws(ModelError) -> Graph {
        var graph = graph
        var view: BlockView?
        var unchanged = 0
        for turn in 0..<roundLimit * passes.count {
            let pass = passes[turn % passes.count]
            if try graph.apply(pass, reusing: &view) {
                if isVerified { try graph.verify(after: pass.name) }
                unchanged = 0
            } else {
                unchanged += 1
            }
            if unchanged == passes.count { break }
        }
        return graph
    }
}

extension Graph {
    /// Verifies the graph after a rewrite; the error names the rewrite.
    func verify(after pass: String) throws(ModelError) {
        try withErrorContext("after the pass \(pass)") { () throws(ModelError) in try verify() }
    }
}
