import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf
import Testing

@Suite struct MILParserTests {
    @Test func printedProgramsComeBackEqual() throws {
        var old = Seeds.program.mlProgram
        var function = try #require(old.functions["main"])
        function.blockSpecializations = ["CoreML6": try #require(function.blockSpecializations["CoreML8"])]
        function.opset = "CoreML6"
        old.functions = ["main": function]
        for program in [Seeds.program.mlProgram, old, everything] {
            let text = try MILPrinter.text(program)
            let back = try MILParser.program(Array(text.utf8))
            #expect(back == program, "\(text)")
            #expect(try MILPrinter.text(back) == text)
        }
    }

    @Test func spaceAndCommentsMeanNothing() throws {
        let text = """
            program ( 1.3 ) // first
            { func main<ios18>(tensor<fp32,[2]>x){
            fp32 half=const()[val=fp32(0.5)];// a comment
            tensor<fp32, [?, ...]> "odd name"=mul(x=x,y=half);
            }->("odd name"); }
            """
        let block = try #require(MILParser.program(Array(text.utf8)).functions["main"]?.blockSpecializations["CoreML8"])
        #expect(block.operations.map(\.type) == ["const", "mul"])
        #expect(block.operations[0].attributes["val"]?.immediateValue.tensor.floats.values == [0.5])
        #expect(block.outputs == ["odd name"])
    }

    @Test(arguments: [
        ("", "line 1, column 1", "program was expected"),
        ("program(1.0)\n{\n  fun", "line 3, column 3", "func was expected"),
        (line("fp33 y = a();"), "line 2", "fp33 is not a type"), (line("fp32 y = a()"), "line 3", "; was expected"),
        (line("fp32 y = const()[v = fp32(x)];"), "line 2", "x is not a value of type fp32"),
        (line("fp32 y = const()[v = uint4(16)];"), "line 2", "16 is not a value of type uint4"),
        (line("fp32 y = const()[v = tensor<fp32, [2]>([1])];"), "line 2", "takes 2 values, but 1 are given"),
        (line("fp32 y = const()[v = tensor<fp32, [2, 2]>([1])];"), "line 2", "[ was expected"),
        (line("fp32 y = const()[v = fp32(1), v = fp32(1)];"), "line 2", "occurs twice"),
        (line("fp32 y = a(x = \"open);"), "line 2", "quotes are opened"), (line("fp32 y = a(@);"), "line 2", "@"),
        (line(String(repeating: "list<", count: 5000)), "line 2", "nested deeper"),
        (line(String(repeating: "a() { () {", count: 5000)), "line 2", "nested deeper"),
    ])
    func brokenTextIsNamed(_ text: String, _ place: String, _ what: String) {
        let message = failure { _ = try MILParser.program(Array(text.utf8)) }
        #expect(message.contains(place) && message.contains(what), "\(message)")
    }

    @Test func damagedTextSurvives() throws {
        let seeds = try [Seeds.program.mlProgram, everything].map { Array(try MILPrinter.text($0).utf8) }
        var mutator = Mutator(seed: 4)
        var failures = 0
        for index in 0..<10_000 {
            let text = mutator.damaged(seeds[index % 2], with: seeds[mutator.number(below: 2)])
            let message = failure { _ = try MILPrinter.text(try MILParser.program(text)) }
            if !message.isEmpty { failures += 1 }
        }
        #expect(failures > 1000 && failures < 10_000)
    }

    /// A program with every kind of type, value, argument and nesting.
    private var everything: MILProgram {
        func tensor(_ type: MILDataType, _ shape: [UInt64], _ value: MILTensorValue.OneOf_Value) -> MILValue {
            var result = MILValue()
            result.type = Seeds.tensorType(type, shape)
            result.immediateValue.tensor.value = value
            return result
        }
        var list = MILValue()
        list.type.listType.type = Seeds.tensorType(.string, [])
        list.type.listType.length.constant.size = 2
        list.immediateValue.list.values = [Seeds.text("a"), Seeds.text("ü\n\"")]
        var dictionary = MILValue()
        dictionary.type.dictionaryType.keyType = Seeds.tensorType(.string, [])
        dictionary.type.dictionaryType.valueType = Seeds.tensorType(.int32, [2])
        let pair = tensor(.int32, [2], .ints(.with { $0.values = [-1, .max] }))
        dictionary.immediateValue.dictionary.values = [
            .with {
                $0.key = Seeds.text("k"); $0.value = pair
            }
        ]
        var tuple = MILValue()
        tuple.type.tupleType.types = [list.type, dictionary.type]
        tuple.immediateValue.tuple.values = [list, dictionary]

        var constant = MILOperation()
        constant.type = "const"
        constant.outputs = [Seeds.named("weights 1", Seeds.tensorType(.float16, [1, 2]))]
        constant.attributes = [
            "half": tensor(.float16, [1, 2], .bytes(.with { $0.values = SpecBytes.field([0, 0x3C, 1, 0]) })),
            "bits": tensor(.uint3, [3], .bytes(.with { $0.values = SpecBytes.field([0b0101_0001, 0]) })),
            "doubles": tensor(.float64, [2, 1], .doubles(.with { $0.values = [0.1, -.infinity] })),
            "longs": tensor(.int64, [1], .longInts(.with { $0.values = [.min] })),
            "unsigned": tensor(.uint64, [1], .longInts(.with { $0.values = [-1] })),
            "flags": tensor(.bool, [2], .bools(.with { $0.values = [true, false] })),
            "none": tensor(.float32, [0], .floats(.init())), "tuple": tuple,
        ]
        var inner = MILBlock()
        inner.inputs = [Seeds.named("a", Seeds.tensorType(.int32, []))]
        inner.outputs = ["a"]
        var loop = MILOperation()
        loop.type = "while_loop"
        var variadic = MILArgument()
        variadic.arguments = [.with { $0.name = "x" }, .with { $0.value = pair }]
        loop.inputs = ["loop_vars": variadic, "none": MILArgument()]
        var state = MILValueType()
        state.stateType.wrappedType = Seeds.tensorType(.float16, [4])
        var unknown = Seeds.tensorType(.float32, [1])
        unknown.tensorType.dimensions[0].unknown.variadic = true
        loop.outputs = [Seeds.named("p", Seeds.tensorType(.int32, [])), Seeds.named("q", unknown)]
        loop.blocks = [inner, inner]
        var write = MILOperation()
        write.type = "write_state"
        write.inputs = ["data": Seeds.argument("weights 1"), "input": Seeds.argument("s")]
        var block = MILBlock()
        block.operations = [constant, loop, write]
        block.outputs = ["p", "q"]
        var function = MILFunction()
        function.inputs = [Seeds.named("x", Seeds.tensorType(.float32, [])), Seeds.named("s", state)]
        function.opset = "CoreML8"
        function.attributes = ["shapes": dictionary]
        function.blockSpecializations = ["CoreML8": block]
        var program = MILProgram()
        program.version = 1
        program.attributes = ["buildInfo": dictionary]
        program.functions = ["main": function, "other": function]
        return program
    }
}

private func line(_ statement: String) -> String {
    "program(1.3) { func main<ios18>() {\n\(statement)\n} -> (); }"
}
