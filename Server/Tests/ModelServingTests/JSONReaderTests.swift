import Foundation
import NIOCore
import Testing

import ModelServing

@Suite("Reading JSON") struct JSONReaderTests {
    private func read<T>(_ text: String, _ body: (inout JSONReader) throws -> T) throws -> T {
        try Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let value = try body(&reader)
            try reader.finish()
            return value
        }
    }

    @Test func numbersAreTheNearestOfTheirType() throws {
        var random = SystemRandomNumberGenerator()
        var texts = [
            "0", "-0", "-0.0", "1e22", "1e23", "9007199254740993", "1.7976931348623157e308", "5e-324", "1e-400", "0.1",
            "16777217", "16777217.0000000001", "1.00000017881393432617187499", "3.4028235e38", "1.17549435e-38",
            "1e-45",
            "0.30000001192092896", "123456789012345678901234567890", "7.006492321624085e-46",
            "12345678901234567890e-10",
        ]
        for _ in 0..<20_000 {
            texts.append("\(Double(bitPattern: random.next() & 0xBFEF_FFFF_FFFF_FFFF))")
            let single = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()) & 0xBF7F_FFFF)
            texts += ["\(single)", "\(Double(single))", "\(Double.random(in: -10...10, using: &random))"]
        }
        for text in texts {
            let number = try read(text) { try $0.readNumber() }
            // The text of a number outlives its reader only here.
            try #require(
                Array(text.utf8).withUnsafeBytes { bytes in
                    var reader = JSONReader(bytes)
                    guard let number = try? reader.readNumber() else { return false }
                    return number.double == Double(text) && number.float == Float(text)
                        && (number.double != 0 || number.double.sign == Double(text)?.sign)
                },
                "\(text) \(number.mantissa)"
            )
        }
    }

    @Test func integersAreExact() throws {
        func integer(_ text: String) throws -> Int64? { try read(text) { try $0.readNumber().integer(Int64.self) } }
        #expect(try integer("9223372036854775807") == .max)
        #expect(try integer("-9223372036854775808") == .min)
        #expect(try integer("9223372036854775808") == nil)
        #expect(try integer("99999999999999999999") == nil)
        #expect(try integer("1.0") == nil)
        #expect(try integer("1e3") == nil)
        #expect(try read("255") { try $0.readNumber().integer(UInt8.self) } == 255)
        #expect(try read("256") { try $0.readNumber().integer(UInt8.self) } == nil)
        #expect(try read("18446744073709551615") { try $0.readNumber().integer(UInt64.self) } == .max)
    }

    @Test func strings() throws {
        #expect(try read(#""a\n\"\\\/\u00e9\ud83d\ude00é""#) { try $0.readString() } == "a\n\"\\/é😀é")
    }

    @Test(arguments: [
        "", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "-", "1.", ".5", "1e", "+1", "nul", "tru", "\"",
        "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\u{1}\"", "[1] 2", "NaN", "Infinity",
        String(repeating: "[", count: 100_000), "{\"a\":1,}",
    ])
    func malformed(text: String) {
        #expect(throws: ServingError.self) { try read(text) { try $0.skipValue() } }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: ServingError.self) {
            try [0x22, 0xC3, 0x28, 0x22].withUnsafeBytes { bytes in
                var reader = JSONReader(UnsafeRawBufferPointer(rebasing: bytes[..<4]))
                try reader.skipValue()
            }
        }
    }

    /// Foundation accepts and refuses the same texts, but for commas before closing brackets, which it accepts, and numbers beyond
    /// those of 64 bits, which it refuses.
    @Test func mutationsAreJudgedAsByFoundation() {
        var random = SystemRandomNumberGenerator()
        let seeds = [
            #"{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1.5,-2e0]}],"id":"\u0041"}"#,
            #"[true,false,null,{"a":[[],{}]},"\"\\",0.5E-2]"#,
        ]
        for _ in 0..<20_000 {
            var bytes = Array(seeds.randomElement(using: &random)!.utf8)
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: index)
                case 1: bytes[index] = Array("{}[],:\"\\0123eE+-.tfn ".utf8).randomElement(using: &random)!
                default: bytes.insert(bytes[index], at: index)
                }
            }
            let ours = bytes.withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                return (try? reader.skipValue()) != nil && (try? reader.finish()) != nil
            }
            let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains(/,[ ]*[\]}]/) {
                #expect(theirs || !ours, "\(text)")
                continue
            }
            if text.contains(/[eE]\+?[0-9]{3}/) {
                #expect(ours || !theirs, "\(text)")
                continue
            }
            #expect(ours == theirs, "\(text)")
        }
    }
}
