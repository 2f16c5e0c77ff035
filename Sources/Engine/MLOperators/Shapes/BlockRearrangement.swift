package import MLGraph
package import MLNumerics
import MLSpecification

/// The mapping between channels and square blocks of pixels.
package protocol BlockOrder: Hashable, Sendable {
    static var names: [MILName] { get }
    /// The name of the block size among the arguments.
    static var argument: String { get }
    /// Whether blocks of pixels become channels, or the reverse.
    static var gathersBlocks: Bool { get }
    /// Whether the position in the block is the more significant part: channel index = block position · C + c.
    static var isBlockMajor: Bool { get }
}

package enum SpaceToDepthOrder: BlockOrder {
    package static let names: [MILName] = ["space_to_depth"]
    package static let argument = "block_size"
    package static let gathersBlocks = true
    package static let isBlockMajor = true
}

package enum DepthToSpaceOrder: BlockOrder {
    package static let names: [MILName] = ["depth_to_space"]
    package static let argument = "block_size"
    package static let gathersBlocks = false
    package static let isBlockMajor = true
}

package enum PixelShuffleOrder: BlockOrder {
    package static let names: [MILName] = ["pixel_shuffle"]
    package static let argument = "upscale_factor"
    package static let gathersBlocks = false
    package static let isBlockMajor = false
}

package enum PixelUnshuffleOrder: BlockOrder {
    package static let names: [MILName] = ["pixel_unshuffle"]
    package static let argument = "downscale_factor"
    package static let gathersBlocks = true
    package static let isBlockMajor = false
}

package typealias SpaceToDepth = BlockRearrangement<SpaceToDepthOrder>
package typealias DepthToSpace = BlockRearrangement<DepthToSpaceOrder>
package typealias PixelShuffle = BlockRearrangement<PixelShuffleOrder>
package typealias PixelUnshuffle = BlockRearrangement<PixelUnshuffleOrder>

/// Moves blocks of `b` × `b` pixels to channels or the reverse.
///
/// Gathering: [n, c, h, w] → [n, c·b², h/b, w/b]. Spreading: [n, c, h, w] → [n, c/b², h·b, w·b].
package struct BlockRearrangement<Order: BlockOrder>: Rearrangement {
    package static var names: [MILName] { Order.names }
    package var blockSize: Int

    package init(blockSize: Int) { self.blockSize = blockSize }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        blockSize = try arguments.int(Order.argument)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let shape = try operands.require(rank: 4, of: 0)
        guard (1...32768).contains(blockSize) else {
            throw ModelError(.invalidModel, "a block size of \(blockSize) is out of range; it must be positive")
        }
        let area = blockSize * blockSize
        func divided(_ dimension: Dimension, by divisor: Int) throws(ModelError) -> Dimension {
            if let count = dimension.count, count % divisor != 0 {
                throw ModelError(.invalidModel, "an extent of \(count) is not divisible by \(divisor)")
            }
            return dimension.map { $0 / divisor }
        }
        let block = Dimension(blockSize)
        let result: Shape =
            Order.gathersBlocks
            ? [
                shape[0], shape[1] * Dimension(area), try divided(shape[2], by: blockSize),
                try divided(shape[3], by: blockSize),
            ]
            : [shape[0], try divided(shape[1], by: area), shape[2] * block, shape[3] * block]
        return [try operands.type(0).with(result)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        let b = blockSize
        if Order.gathersBlocks {
            // n, c, h, by, w, bx
            let view = x.splitting(3, x.shape[3] / b, b).splitting(2, x.shape[2] / b, b)
            return view.transposed(Order.isBlockMajor ? [0, 3, 5, 1, 2, 4] : [0, 1, 3, 5, 2, 4])
        }
        let channels = x.shape[1] / (b * b)
        if Order.isBlockMajor {
            // n, by, bx, c, h, w
            return x.splitting(1, b, b * channels).splitting(2, b, channels).transposed([0, 3, 4, 1, 5, 2])
        }
        // n, c, by, bx, h, w
        return x.splitting(1, channels, b * b).splitting(2, b, b).transposed([0, 1, 4, 2, 5, 3])
    }
}

extension BlockRearrangement: LoweredFromLayers {
    package static var layers: [LayerRule] {
        guard Self.self == SpaceToDepth.self else { return [] }
        return [
            LayerRule("reorganizeData", \.reorganizeData) { parameters, context throws(ModelError) in
                let size = Int(clamping: parameters.blockSize)
                let x = try context.input()
                let image = try context.merged(x, keeping: 3)
                let result: ValueID
                switch parameters.mode {
                case .spaceToDepth: result = try context.add(SpaceToDepth(blockSize: size), image)
                case .depthToSpace: result = try context.add(DepthToSpace(blockSize: size), image)
                case .pixelShuffle: result = try context.add(PixelShuffle(blockSize: size), image)
                case .UNRECOGNIZED(let value):
                    throw ModelError(.unsupported, "reorganisation \(value) is not known")
                }
                try context.finish(try context.restored(result, like: x, keeping: 3))
            }
        ]
    }
}

extension BlockRearrangement: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension BlockRearrangement {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self)
    }
}
