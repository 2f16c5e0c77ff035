import CMLKernels

/// Scaled dot-product attention, fused: the scores never leave the cache.
package enum AttentionKernel {
    /// An operand with element `[batch][head][position][i]`, where `i` is contiguous; half floats are their bit patterns.
    ///
    /// `[B, S, H, D]` and `[B, H, S, D]` only differ in their strides, which count elements.
    package struct Operand<Element: AttentionElement> {
        package var address: UnsafePointer<Element>
        package var batchStride: Int
        package var headStride: Int
        package var positionStride: Int

        package init(_ address: UnsafePointer<Element>, strides: (batch: Int, head: Int, position: Int)) {
            self.address = address
            (batchStride, headStride, positionStride) = strides
        }

        var strides: (Int, Int, Int) { (batchStride, headStride, positionStride) }
    }

    /// A mask of the scores `[batch][head][query][key]`, added to them or hiding keys; a stride of 0 repeats, that of
    /// the key is 0 or 1.
    package struct Mask {
        package enum Values {
            case added(UnsafePointer<Float>)
            /// 0 hides the key.
            case keep(UnsafePointer<UInt8>)
        }
        package var values: Values
        package var strides: (batch: Int, head: Int, query: Int, key: Int)

        package init(_ values: Values, strides: (batch: Int, head: Int, query: Int, key: Int)) {
            self.values = values
            self.strides = strides
        }
    }

    /// The sizes: `heads` must be a multiple of `keyHeads`; query head h uses key head `h·keyHeads/heads`.
    package struct Shape {
        package var batch: Int
        package var heads: Int
        package var keyHeads: Int
        package var queries: Int
        package var keys: Int
        /// The length of a query and a key.
        package var size: Int
        /// The length of a value and a result.
        package var valueSize: Int

        package init(
            batch: Int,
            heads: Int,
            keyHeads: Int? = nil,
            queries: Int,
            keys: Int,
            size: Int,
            valueSize: Int? = nil
        ) {
            self.batch = batch
            self.heads = heads
            self.keyHeads = keyHeads ?? heads
            self.queries = queries
            self.keys = keys
            self.size = size
            self.valueSize = valueSize ?? size
        }
    }

    /// `out = softmax(scale·q·kᵀ + mask)·v`.
    ///
    /// `out` is written with the given batch, head and position strides.
    ///
    /// With `isCausal`, query i sees the keys up to `i + keys − queries`. A query whose keys are all hidden gives
    /// zeros.
    package static func attend<Key: AttentionElement>(
        _ shape: Shape,
        query: Operand<Float>,
        key: Operand<Key>,
        value: Operand<Key>,
        into out: UnsafeMutablePointer<Float>,
        strides: (batch: Int, head: Int, position: Int),
        scale: Float,
        mask: Mask? = nil,
        isCausal: Bool = false
    ) {
        var call = cml_attention_call()
        call.batch = shape.batch
        call.heads = shape.heads
        call.key_heads = shape.keyHeads
        call.queries = shape.queries
        call.keys = shape.keys
        call.size = shape.size
        call.value_size = shape.valueSize
        call.q = query.address
        call.k = UnsafeRawPointer(key.address)
        call.v = UnsafeRawPointer(value.address)
        call.key_storage = Key.isHalf ? CML_F16 : CML_F32
        call.q_strides = query.strides
        call.k_strides = key.strides
        call.v_strides = value.strides
        call.out = out
        call.out_strides = (strides.batch, strides.head, strides.position)
        call.scale = scale
        if let mask {
            switch mask.values {
            case .added(let values): call.mask = values
            case .keep(let values): call.keep = values
            }
            call.mask_strides = (mask.strides.batch, mask.strides.head, mask.strides.query, mask.strides.key)
        }
        call.causal = isCausal ? 1 : 0
        cml_attention(cml_isa_current(), &call)
    }
}

/// The elements of keys and values that attention reads: `Float`, and `UInt16` for half floats.
package protocol AttentionElement: SendableMetatype {
    static var isHalf: Bool { get }
}

extension Float: AttentionElement {
    package static var isHalf: Bool { false }
}

extension UInt16: AttentionElement {
    package static var isHalf: Bool { true }
}
