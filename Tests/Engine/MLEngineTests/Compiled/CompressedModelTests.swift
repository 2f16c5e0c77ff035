import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// Compressed weights stay compressed in a compiled folder, which answers as its source does.
struct CompressedModelTests {
    private func feature(_ name: String, _ type: SpecArrayFeatureType.ArrayDataType, _ shape: [Int64])
        -> SpecFeatureDescription
    {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.dataType = type
        feature.type.multiArrayType.shape = shape
        return feature
    }

    /// y = rows of an int8 table by index, times the table: both read it compressed.
    private func model() throws -> ModelFile {
        let extent = 128
        let rows = (0..<extent).map { row in
            "[" + (0..<extent).map { "\(($0 * 7 + row * 13) % 251 - 125)" }.joined(separator: ", ") + "]"
        }
        let scales = (0..<extent).map { "[\(0.01 + Double($0) / 1000)]" }.joined(separator: ", ")
        let text = """
            program(1.3) {
            func main<ios18>(tensor<int32, [2]> x) {
                tensor<int8, [\(extent), \(extent)]> data = const()[val = tensor<int8, [\(extent), \(extent)]>([\(rows.joined(separator: ", "))])];
                tensor<fp32, [\(extent), 1]> scale = const()[val = tensor<fp32, [\(extent), 1]>([\(scales)])];
                tensor<fp32, [\(extent), \(extent)]> table = constexpr_blockwise_shift_scale(data = data, scale = scale);
                int32 axis = const()[val = int32(0)];
                int32 dims = const()[val = int32(0)];
                bool checks = const()[val = bool(false)];
                tensor<fp32, [2, \(extent)]> found = gather(x = table, indices = x, axis = axis, batch_dims = dims, validate_indices = checks);
                tensor<fp32, [2, \(extent)]> y = linear(x = found, weight = table);
            } -> (y);
            }
            """
        var specification = SpecModel()
        specification.specificationVersion = 9
        specification.mlProgram = try MILParser.program(Array(text.utf8))
        specification.description_p.input = [feature("x", .int32, [2])]
        specification.description_p.output = [feature("y", .float32, [2, 128])]
        return ModelFile(specification: specification)
    }

    private func answer(_ file: ModelFile) throws -> [Double] {
        let x = Tensor([5, -1] as [Int32], shape: [2])
        guard case .tensor(let y)? = try EngineLoader.load(file).prediction(from: ["x": .tensor(x)])["y"] else {
            throw ModelError(.invalidModel, "no y")
        }
        return y.values
    }

    @Test func compiledAnswersAreThoseOfTheSource() throws {
        let folder = try FileAccess.makeTemporaryFolder("compressed")
        defer { try? FileAccess.remove(folder) }
        let expected = try answer(model())
        let path = try ModelCompiler.compile(model(), named: "m", into: folder) {
            Issue.record("compiled without graphs: \($0)")
        }
        let file = try ModelFile.open(path: path, for: .prediction)
        #expect(file.compiled != nil)
        #expect(try answer(file) == expected)
        // The codes once for rows and once for products, but no elements of four bytes.
        let size = try #require(FileAccess.byteCount(of: path + "/" + CompiledModel.fileName))
        #expect(size > 2 * 128 * 128 && size < 4 * 128 * 128)
        func code(_ row: Int, _ column: Int) -> Double { Double((column * 7 + row * 13) % 251 - 125) }
        func scale(_ row: Int) -> Double { 0.01 + Double(row) / 1000 }
        for (index, row) in [5, 127].enumerated() {
            for column in [0, 64, 127] {
                var sum = 0.0
                for term in 0..<128 { sum += code(row, term) * code(column, term) }
                #expect(abs(expected[index * 128 + column] - sum * scale(row) * scale(column)) < 1e-2)
            }
        }
    }
}
