import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

@Suite struct MILPrinterTests {
    @Test func recentProgramsWriteBareScalars() throws {
        let text = try MILPrinter.text(Seeds.program.mlProgram)
        let weight = #"(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))"#
        #expect(
            text == """
                program(1.3)
                {
                    func main<ios18>(tensor<fp32, [2, 2]> x) {
                        tensor<fp32, [2, 2]> w = const()[name = string("w"), val = tensor<fp32, [2, 2]>\(weight)];
                        tensor<fp32, [2, 2]> y = add(x = x, y = w)[name = string("y")];
                    } -> (y);
                }

                """
        )
    }

    @Test func olderProgramsWriteTensors() throws {
        var program = Seeds.program.mlProgram
        var function = program.functions["main"] ?? MILFunction()
        function.blockSpecializations = ["CoreML5": function.blockSpecializations["CoreML8"] ?? MILBlock()]
        function.opset = "CoreML5"
        program.functions = ["main": function]
        let text = try MILPrinter.text(program)
        #expect(text.hasPrefix("program(1.0)\n{\n    func main<ios15>("))
        #expect(text.contains(#"[name = tensor<string, []>("w"), val = tensor<fp32, [2, 2]>(BLOBFILE(path = "#))
        #expect(text.contains("offset = tensor<uint64, []>(64)))];"))
        function.opset = "CoreML7"
        program.functions = ["main": function]
        #expect(failure { _ = try MILPrinter.text(program) }.contains("function main: The function selects"))
    }

    @Test func numbersAreExact() throws {
        let cases: [(MILDataType, MILTensorValue.OneOf_Value, String)] = [
            (.float32, .floats(.with { $0.values = [1, -0.1] }), "tensor<fp32, [2]>([0x1p+0, -0x1.99999ap-4])"),
            (.float64, .doubles(.with { $0.values = [0, .infinity] }), "tensor<fp64, [2]>([0x0p+0, inf])"),
            (.int32, .ints(.with { $0.values = [-5, 5] }), "tensor<int32, [2]>([-5, 5])"),
            (.bool, .bools(.with { $0.values = [true, false] }), "tensor<bool, [2]>([true, false])"),
            (.string, .strings(.with { $0.values = ["a\"", "b\n"] }), #"tensor<string, [2]>(["a\"", "b\n"])"#),
            (
                .float16, .bytes(.with { $0.values = SpecBytes.field([0, 0x3C, 0, 0xC0]) }),
                "tensor<fp16, [2]>([0x1p+0, -0x1p+1])"
            ),
            (.uint4, .bytes(.with { $0.values = SpecBytes.field([0xF1]) }), "tensor<uint4, [2]>([1, 15])"),
        ]
        for (type, content, expected) in cases {
            var value = MILValue()
            value.type = Seeds.tensorType(type, [2])
            value.immediateValue.tensor.value = content
            var program = MILProgram()
            program.attributes = ["a": value]
            #expect(try MILPrinter.text(program) == "program(1.0)\n[a = \(expected)]\n{\n}\n")
        }
    }
}
