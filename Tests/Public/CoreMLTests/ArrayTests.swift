import CoreML
import Testing

struct MultiArrayTests {
    @Test(arguments: [MLMultiArrayDataType.double, .float32, .float16, .int32, .int8])
    func storesAndReadsEveryType(type: MLMultiArrayDataType) throws {
        let array = try MLMultiArray(shape: [2, 3], dataType: type)
        for index in 0..<array.count { array[index] = NSNumber(value: index * 7 - 20) }
        #expect((0..<6).map { array[$0].intValue } == [-20, -13, -6, 1, 8, 15])
        #expect(array[[1, 2] as [NSNumber]].intValue == 15)
        array[[0, 1]] = 3
        #expect(array[1].intValue == 3)
        #expect(array.shape == [2, 3] && array.strides == [3, 1] && array.count == 6)
    }

    @Test func collectionsGiveVectors() throws {
        #expect(try MLMultiArray([1, 2, 3]).dataType == .int32)
        #expect(try MLMultiArray([1.5, 2.5] as [Double]).dataType == .double)
        let floats = try MLMultiArray([1.5, 2.5] as [Float])
        #expect(floats.dataType == .float32 && floats[1] == 2.5)
    }

    @Test func stridedMemoryIsReadByIndex() throws {
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: 8)
        for index in 0..<8 { memory[index] = Float(index) }
        nonisolated(unsafe) var freed = false
        do {
            let array = try MLMultiArray(
                dataPointer: memory,
                shape: [2, 3],
                dataType: .float32,
                strides: [4, 1],
                deallocator: {
                    $0.deallocate()
                    freed = true
                }
            )
            #expect((0..<6).map { array[$0].intValue } == [0, 1, 2, 4, 5, 6])
            array.withUnsafeBufferPointer(ofType: Float.self) { #expect($0.count == 7) }
            let copy = try MLMultiArray(shape: [2, 3], dataType: .double)
            array.transfer(to: copy)
            #expect(copy[3] == 4)
        }
        #expect(freed)
    }

    @Test func invalidShapesAreErrors() {
        #expect(throws: MLModelError.self) { try MLMultiArray(shape: [-1], dataType: .double) }
        #expect(throws: MLModelError.self) {
            try MLMultiArray(shape: [1_000_000_000, 1_000_000_000, 1_000_000_000], dataType: .double)
        }
        // Empty, although the strides of the other axes overflow.
        #expect(throws: Never.self) {
            try MLMultiArray(shape: [0, 1_000_000_000_000, 1_000_000_000_000], dataType: .double)
        }
    }

    @Test func stridesThatLeaveTheMemoryAreErrors() {
        let memory = UnsafeMutablePointer<Double>.allocate(capacity: 4)
        defer { memory.deallocate() }
        for strides in [[-2, 1], [2], [Int.max, 1]] {
            #expect(throws: MLModelError.self) {
                try MLMultiArray(
                    dataPointer: memory,
                    shape: [3, 2],
                    dataType: .double,
                    strides: strides.map { NSNumber(value: $0) }
                )
            }
        }
    }

    @Test func concatenationConverts() throws {
        let a = try MLMultiArray(shape: [2, 1], dataType: .int32)
        let b = try MLMultiArray(shape: [2, 2], dataType: .float32)
        for index in 0..<2 { a[index] = NSNumber(value: index + 1) }
        for index in 0..<4 { b[index] = NSNumber(value: Float(index) + 0.5) }
        let both = MLMultiArray(concatenating: [a, b], axis: 1, dataType: .double)
        #expect((0..<6).map { both[$0].doubleValue } == [1, 0.5, 1.5, 2, 2.5, 3.5])
        let stacked = MLMultiArray(concatenating: [b, b], axis: -2, dataType: .float16)
        #expect(stacked.shape == [4, 2])
    }

    @Test func pixelBuffersAreShared() throws {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, 5, 6, kCVPixelFormatType_OneComponent16Half, nil, &buffer)
        let pixels = try #require(buffer)
        let array = MLMultiArray(pixelBuffer: pixels, shape: [2, 3, 5])
        array[[1, 0, 4]] = 9
        let row = CVPixelBufferGetBytesPerRow(pixels)
        let address = try #require(CVPixelBufferGetBaseAddress(pixels))
        #expect(address.load(fromByteOffset: 3 * row + 8, as: Float16.self) == 9)
        #expect(array.pixelBuffer === pixels)
    }

    @Test func survivesArchiving() throws {
        let array = try MLMultiArray([1.5, -2, 3] as [Double])
        let data = try NSKeyedArchiver.archivedData(withRootObject: array, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: MLMultiArray.self, from: data)
        #expect(read == array)
    }
}

struct ShapedArrayTests {
    @Test func slicesShareAndCopyOnWrite() {
        var array = MLShapedArray<Float>(scalars: (0..<12).map { Float($0) }, shape: [3, 4])
        let copy = array
        let row = array[1]
        array[scalarAt: 1, 2] = 100
        #expect(copy[scalarAt: 1, 2] == 6 && row[scalarAt: 2] == 6 && array[scalarAt: [1, 2]] == 100)
        array[0] = array[1]
        #expect(array[0].scalars == [4, 5, 100, 7])
        #expect(array[0..<2, 1...].scalars == [5, 100, 7, 5, 100, 7])
        #expect(array[...1, 2..<3].shape == [2, 1])
        #expect(array[1, 2].scalar == 100)
        #expect(array.map { $0.scalars[0] } == [4, 4, 8])
    }

    @Test func slicesAreAssigned() {
        var array = MLShapedArray<Int32>(repeating: 0, shape: [2, 3])
        array[0..<2, 0..<2] = MLShapedArraySlice(scalars: [1, 2, 3, 4], shape: [2, 2])
        #expect(array.scalars == [1, 2, 0, 3, 4, 0])
        array[1].fill(with: 9)
        #expect(array.scalars == [1, 2, 0, 9, 9, 9])
    }

    @Test func viewsRearrange() {
        let array = MLShapedArray<Double>(scalars: (0..<6).map(Double.init), shape: [2, 3])
        #expect(array.transposed().scalars == [0, 3, 1, 4, 2, 5])
        #expect(array.transposed().reshaped(to: [6]).scalars == [0, 3, 1, 4, 2, 5])
        #expect(array.expandingShape(at: 1).shape == [2, 1, 3])
        #expect(array.expandingShape(at: 1).squeezingShape() == array)
        #expect(array.changingLayout(to: .lastMajorContiguous).strides == [1, 2])
        #expect(array.changingLayout(to: .lastMajorContiguous) == array)
        #expect(MLShapedArray(concatenating: [array, array], alongAxis: 1).shape == [2, 6])
        #expect(MLShapedArray<Float>(identityMatrixOfSize: 2).scalars == [1, 0, 0, 1])
    }

    @Test func convertsBetweenForms() throws {
        let shaped: MLShapedArray<Float> = [1.5, -2.5, 300]
        let multi = MLMultiArray(shaped)
        #expect(multi.dataType == .float32)
        #expect(MLShapedArray<Float>(multi) == shaped)
        #expect(MLShapedArray<Int8>(converting: multi).scalars == [1, -2, 127])
        #expect(MLShapedArray<Int32>(converting: shaped).scalars == [1, -2, 300])
        let decoded = try JSONDecoder().decode(MLShapedArray<Float>.self, from: JSONEncoder().encode(shaped))
        #expect(decoded == shaped)
    }

    @Test func lentMemoryIsNeverWritten() {
        let memory: [Float] = [1, 2, 3, 4]
        memory.withUnsafeBytes { bytes in
            var array = MLShapedArray<Float>(
                bytesNoCopy: bytes.baseAddress!,
                shape: [2, 2],
                deallocator: .none
            )
            array[scalarAt: 0, 0] = 50
            #expect(array[scalarAt: 0, 0] == 50)
        }
        #expect(memory[0] == 1)
    }

    private func told(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func stridesThatLeaveTheMemoryAreNamed() async {
        let array = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let memory: [Float] = [1, 2, 3, 4]
            memory.withUnsafeBytes { bytes in
                _ = MLShapedArray<Float>(
                    bytesNoCopy: bytes.baseAddress!,
                    shape: [2, 2],
                    strides: [-2, 1],
                    deallocator: .none
                )
            }
        }
        #expect(told(array).contains("strides [-2, 1] do not fit shape [2, 2]"))
        let slice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let memory: [Float] = [1, 2, 3, 4]
            memory.withUnsafeBytes { bytes in
                _ = MLShapedArraySlice<Float>(
                    bytesNoCopy: bytes.baseAddress!,
                    shape: [3, 2],
                    strides: [4_611_686_018_427_387_904, 1],
                    deallocator: .none
                )
            }
        }
        #expect(told(slice).contains("strides [4611686018427387904, 1] do not fit shape [3, 2]"))
        let layout = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let array = MLShapedArray<Float>(repeating: 1, shape: [2, 3])
            print(array.changingLayout(to: .strides([-3, 1])))
        }
        #expect(told(layout).contains("strides [-3, 1] do not fit shape [2, 3]"))
        let data = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            print(MLShapedArray<Float>(data: Data(count: 15), shape: [2, 2]))
        }
        #expect(told(data).contains("15 bytes are not enough for shape [2, 2], strides [2, 1]: give 16"))
    }
}
