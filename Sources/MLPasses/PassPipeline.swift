package import MLGraph
package import MLNumerics

/// The rewrites that every graph goes through before it is planned, in order, to a fixed point.
package enum PassPipeline {
    /// Cleaning first, so that fusions see plain patterns; wide fusions before narrow ones; activations last, because
    /// a fused activation hides its producer from the others.
    package static let passes: [any Pass] = [
        RemoveIdentities(),
        UseWideIndices(),
        UpdateHalfInPlace(),
        NormalizeReshapes(),
        ComposeTransposes(),
        NormalizeTransposes(),
        ConstantMatMulToLinear(),
        FoldBatchNorm(),
        FuseBias(),
        FuseAttention(),
        FuseHeads(),
        RaiseReshapes(),
        FuseResidual(),
        FuseActivation(),
    ]

    /// Rounds after which the pipeline stops even if something still changes.
    private static let roundLimit = 12

    /// What a graph goes through once, as it was read: products with constants become linears, so that their weights
    /// are known as weights and keep their precision, and everything else is widened to float32.
    package static func prepare(_ graph: Graph) throws(ModelError) -> Graph {
        try graph.applying(ConstantMatMulToLinear()).graph.widened()
    }

    package static func optimize(_ graph: Graph) throws(ModelError) -> Graph {
        var graph = graph
        for _ in 0..<roundLimit {
            var changed = false
            for pass in passes {
                let result = try graph.applying(pass)
                graph = result.graph
                if Verification.isOn, result.changed {
                    try trailing("after the pass \(pass.name)") { () throws(ModelError) in try graph.verify() }
                }
                changed = changed || result.changed
            }
            if !changed { break }
        }
        return graph
    }
}
