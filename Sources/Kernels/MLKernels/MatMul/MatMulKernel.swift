import CMLKernels

/// Matrix products of single-precision rows.
package enum MatMulKernel {
    /// The properties of a product that determine oneDNN's preparation.
    struct PlainShape: Hashable, Sendable {
        var rows: Int
        var stride: Int
    }

    /// `c[rows, N] = epilogue(a[rows, K] · weights[K, N])`.
    ///
    /// `aStride` and `cStride` are elements from one row to the next; 0 means contiguous. `c` must not overlap `a`; it
    /// may be the residual. A single row is a matrix-vector product that streams the weights once.
    package static func multiply(
        _ a: UnsafePointer<Float>,
        rows: Int,
        by weights: PackedWeights,
        into c: UnsafeMutablePointer<Float>,
        aStride: Int = 0,
        cStride: Int = 0,
        epilogue: Epilogue = Epilogue()
    ) {
        let stride = cStride == 0 ? weights.columns : cStride
        if let plain = weights.plain, rows > 0 {
            let shape = PlainShape(rows: rows, stride: aStride == 0 ? weights.terms : aStride)
            let done = plain.run(
                shape,
                a,
                into: c,
                rows: rows,
                columns: weights.columns,
                yStride: stride,
                epilogue: epilogue.lowered(rowStride: stride)
            ) { values in
                OneDNN.Operation.product(
                    rows: rows,
                    terms: weights.terms,
                    columns: weights.columns,
                    xStride: shape.stride,
                    yStride: weights.columns,
                    weights: values,
                    termStride: weights.plainStrides.term,
                    columnStride: weights.plainStrides.column,
                    bias: nil
                )
            }
            if done { return }
        }
        var call = cml_gemm_call()
        call.m = rows
        call.n = weights.columns
        call.k = weights.terms
        call.a = a
        call.lda = aStride == 0 ? weights.terms : aStride
        call.b = UnsafeRawPointer(weights.memory.address)
        call.storage = weights.isHalf ? CML_F16 : CML_F32
        call.c = c
        call.ldc = stride
        call.epilogue = epilogue.lowered(rowStride: stride)
        call.batch = 1
        cml_gemm(weights.instructionSet, &call)
    }

    /// A right-hand side that is only known at run time: element (k, n) is at `k·termStride + n·columnStride`; one of
    /// the two strides should be 1, other strides are slower.
    package struct RightHandSide {
        package var address: UnsafePointer<Float>
        package var termStride: Int
        package var columnStride: Int

        package init(address: UnsafePointer<Float>, termStride: Int, columnStride: Int) {
            self.address = address
            self.termStride = termStride
            self.columnStride = columnStride
        }
    }

    /// `c[i][rows, columns] = epilogue(a[i][rows, terms] · b[i][terms, columns])` for every item of a batch.
    ///
    /// The offsets count elements from the given addresses, one for each item (empty: a single item at offset 0); equal
    /// successive offsets of `b` share one packing. The residual is offset like `c`.
    package static func multiply(
        _ a: UnsafePointer<Float>,
        _ b: RightHandSide,
        into c: UnsafeMutablePointer<Float>,
        rows: Int,
        terms: Int,
        columns: Int,
        aStride: Int = 0,
        cStride: Int = 0,
        aOffsets: [Int] = [],
        bOffsets: [Int] = [],
        cOffsets: [Int] = [],
        epilogue: Epilogue = Epilogue()
    ) {
        let stride = cStride == 0 ? columns : cStride
        var call = cml_gemm_call()
        call.m = rows
        call.n = columns
        call.k = terms
        call.a = a
        call.lda = aStride == 0 ? terms : aStride
        call.b = UnsafeRawPointer(b.address)
        call.storage = CML_F32
        call.c = c
        call.ldc = stride
        call.epilogue = epilogue.lowered(rowStride: stride)
        call.batch = max(1, cOffsets.count)
        aOffsets.withUnsafeBufferPointer { aOffsets in
            bOffsets.withUnsafeBufferPointer { bOffsets in
                cOffsets.withUnsafeBufferPointer { cOffsets in
                    call.a_offsets = aOffsets.isEmpty ? nil : aOffsets.baseAddress
                    call.b_offsets = bOffsets.isEmpty ? nil : bOffsets.baseAddress
                    call.c_offsets = cOffsets.isEmpty ? nil : cOffsets.baseAddress
                    cml_gemm_unpacked(cml_isa_current(), &call, b.termStride, b.columnStride)
                }
            }
        }
    }

    /// The shape of the products of a batch whose operands are only known at run time; see
    /// `multiply(_:_:into:rows:terms:columns:aStride:cStride:aOffsets:bOffsets:cOffsets:epilogue:)`.
    package struct Batch: Sendable {
        package var rows: Int
        package var terms: Int
        package var columns: Int
        package var aStride: Int
        package var aOffsets: [Int]
        package var bOffsets: [Int]
        package var cOffsets: [Int]

        package init(
            rows: Int,
            terms: Int,
            columns: Int,
            aStride: Int,
            aOffsets: [Int],
            bOffsets: [Int],
            cOffsets: [Int]
        ) {
            self.rows = rows
            self.terms = terms
            self.columns = columns
            self.aStride = aStride
            self.aOffsets = aOffsets
            self.bOffsets = bOffsets
            self.cOffsets = cOffsets
        }

        /// `c[i] = a[i] · b[i]` for every item.
        package func multiply(
            _ a: UnsafePointer<Float>,
            _ b: RightHandSide,
            into c: UnsafeMutablePointer<Float>
        ) {
            MatMulKernel.multiply(
                a,
                b,
                into: c,
                rows: rows,
                terms: terms,
                columns: columns,
                aStride: aStride,
                aOffsets: aOffsets,
                bOffsets: bOffsets,
                cOffsets: cOffsets
            )
        }
    }
}
