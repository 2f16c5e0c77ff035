import MLGraph
import MLNumerics
import MLSpecification

extension Resize: LoweredFromLayers {
    /// The rules of all resizing layers are declared with `resize_bilinear`.
    package static var layers: [LayerRule] {
        guard self == ResizeBilinear.self else { return [] }
        return [
            LayerRule("resizeBilinear", \.resizeBilinear) { parameters, context throws(ModelError) in
                let size = parameters.targetSize.isEmpty ? [1, 1] : integers(parameters.targetSize)
                let op = ResizeBilinear(.extents(size), .linear(try SamplingMode(parameters.mode)))
                try context.setOutputs([try context.add(op, context.input())])
            },
            LayerRule("upsample", \.upsample) { parameters, context throws(ModelError) in
                var factors = parameters.fractionalScalingFactor.map { Double($0) }
                if factors.isEmpty { factors = parameters.scalingFactor.map { Double($0) } }
                if factors.isEmpty { factors = [1, 1] }
                guard factors.count == 2, factors.allSatisfy({ $0 > 0 && $0 <= 16_777_216 }) else {
                    throw ModelError(
                        .invalidModel,
                        "scaling factors \(factors); rows and columns need one each, above 0"
                    )
                }
                guard parameters.mode == .bilinear else {
                    let op = UpsampleNearestNeighbor(.factors(factors), .floor)
                    try context.setOutputs([try context.add(op, context.input())])
                    return
                }
                let mode: SamplingMode
                switch parameters.linearUpsampleMode {
                case .default: mode = .standard
                case .alignCornersTrue: mode = .strictAlignCorners
                case .alignCornersFalse: mode = .unalignCorners
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "upsampling mode \(value) is not known")
                }
                let op = UpsampleBilinear(.factors(factors), .linear(mode))
                try context.setOutputs([try context.add(op, context.input())])
            },
        ]
    }
}

extension CropResize: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("cropResize", \.cropResize) { parameters, context throws(ModelError) in
                // Images [1, B, C, H, W] and regions [N, 1, 4 or 5, 1, 1] give [N, B or 1, C, h, w].
                let images = try context.merged(context.input(0), keeping: 3)
                let regions =
                    context.usesRank5Mapping
                    ? try context.add(Regroup.insertingBatch, context.input(1)) : try context.sequence(1)
                if context.shape(of: regions)[2].count == 5 { context.outputBatch = 1 }
                let size = parameters.targetSize.isEmpty ? [1, 1] : integers(parameters.targetSize)
                guard size.count == 2 else {
                    throw ModelError(.invalidModel, "\(size.count) target extents; rows and columns need one each")
                }
                let op = CropResize(
                    height: size[0],
                    width: size[1],
                    isNormalized: parameters.normalizedCoordinates,
                    spatialScale: stated(parameters.spatialScale, or: 1),
                    boxForm: try BoxForm(parameters.boxIndicesMode),
                    samplingMode: try SamplingMode(parameters.mode),
                    usesRegions: true
                )
                let result = try context.add(op, images, regions)
                try context.setOutputs([try context.blob(fromSequence: result, like: result)])
            }
        ]
    }
}

extension CropResize.BoxForm {
    init(_ mode: SpecBoxCoordinatesMode) throws(ModelError) {
        switch mode.boxMode {
        case .cornersHeightFirst: self = .cornersHeightFirst
        case .cornersWidthFirst: self = .cornersWidthFirst
        case .centerSizeHeightFirst: self = .centerSizeHeightFirst
        case .centerSizeWidthFirst: self = .centerSizeWidthFirst
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "box coordinates \(value) are not known")
        }
    }
}

extension SamplingMode {
    init(_ mode: SpecSamplingMode) throws(ModelError) {
        switch mode.samplingMethod {
        case .strictAlignEndpointsMode: self = .strictAlignCorners
        case .alignEndpointsMode: self = .alignCorners
        case .upsampleMode: self = .standard
        case .roiAlignMode: self = .offsetCorners
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "sampling mode \(value) is not known")
        }
    }
}
