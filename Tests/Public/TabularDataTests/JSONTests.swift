import Foundation
import TabularData
import Testing

struct JSONTests {
    static func read(_ text: String, types: [String: JSONType] = [:]) throws -> DataFrame {
        try DataFrame(jsonData: Data(text.utf8), types: types)
    }

    @Test func typesFollowFromValues() throws {
        let frame = try Self.read(
            """
            [{"i": 1, "d": 1, "s": "x", "b": true, "t": "2001-01-01T00:00:00Z", "a": [1, null], "o": {"k": 2}},
             {"i": 2, "d": 2.5, "s": null, "b": false, "t": null, "late": "\\u00e9\\ud83d\\ude00"}]
            """
        )
        #expect(frame.columns.map(\.name) == ["i", "d", "s", "b", "t", "a", "o", "late"])
        #expect(Array(frame["i", Int.self]) == [1, 2] && Array(frame["d", Double.self]) == [1, 2.5])
        #expect(frame["t", Date.self][0]?.timeIntervalSinceReferenceDate == 0)
        #expect(frame["a", [Any?].self][0]?.count == 2 && frame["a"].isNil(at: 1))
        #expect(frame["o", [String: Any?].self][0]?["k"] as? Int == 2)
        #expect(Array(frame["late", String.self]) == [nil, "é😀"])
        let some = try DataFrame(jsonData: Data("[{\"a\":1,\"b\":2}]".utf8), columns: ["b"], types: ["b": .double])
        #expect(some.shape == (1, 1) && some["b", Double.self][0] == 2)
    }

    @Test func errors() {
        func error(_ text: String, types: [String: JSONType] = [:]) -> String {
            do {
                _ = try Self.read(text, types: types)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        #expect(error("{}").hasPrefix("a table in JSON is a list"))
        #expect(error("[1]").hasPrefix("a table in JSON is a list"))
        #expect(error("[{\"a\":1},{\"a\":\"x\"}]") == "the values of column 'a' are of different types")
        #expect(
            error("[{\"a\":1},{\"a\":\"x\"}]", types: ["a": .integer]) == "row 1, column 'a': x is not of type integer"
        )
        #expect(
            error("[{\"a\":\"x\"}]", types: ["a": .date]) == "row 0, column 'a': 'x' cannot be read as date"
        )
        for text in [
            "[{\"a\":01}]", "[{\"a\":1,}]", "[{\"a\" 1}]", "[{\"a\":tru}]", "[", "[{\"a\":\"\\x\"}]", "[] []", "",
        ] {
            #expect(error(text).contains("malformed at byte"), "\(text)")
        }
    }

    @Test func keysThatNoObjectHasAreNamed() throws {
        let text = Data(#"[{"name": "Ann"}, {"name": "Bob", "age": null}]"#.utf8)
        let error = #expect(throws: DecodingError.self) {
            try DataFrame(jsonData: text, columns: ["name", "nmae"])
        }
        guard case .keyNotFound(let key, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key.stringValue == "nmae")
        #expect(context.debugDescription == "no object has the key 'nmae'; the keys are 'name', 'age'")
        // A key that some objects have, or that is null in all, and any key where there are no objects.
        let ages = try DataFrame(jsonData: text, columns: ["age", "name"])
        #expect(ages.shape == (2, 2) && ages["age"].missingCount == 2)
        #expect(try DataFrame(jsonData: Data("[]".utf8), columns: ["name"]).shape == (0, 1))
    }

    @Test func writing() throws {
        let frame: DataFrame = ["b": [1, nil], "a": ["x\"\n", "y"]]
        #expect(
            String(decoding: try frame.jsonRepresentation(), as: UTF8.self)
                == #"[{"b":1,"a":"x\"\n"},{"b":null,"a":"y"}]"#
        )
        var options = JSONWritingOptions()
        options.sortKeys = true
        options.prettyPrint = true
        #expect(
            String(decoding: try frame.prefix(1).jsonRepresentation(options: options), as: UTF8.self)
                == "[\n  {\n    \"a\": \"x\\\"\\n\",\n    \"b\": 1\n  }\n]"
        )
        let odd: DataFrame = ["x": [Double.nan]]
        #expect(throws: EncodingError.self) { try odd.jsonRepresentation() }
    }

    @Test func roundTrip() throws {
        var frame = GroupingTests.frame(4, rows: 300)
        frame["x"] = frame["x", Double.self].map { $0 }.eraseToAnyColumn()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tabular-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: url) }
        try frame.writeJSON(to: url)
        #expect(try DataFrame(contentsOfJSONFile: url) == frame)
        let parsed = try JSONSerialization.jsonObject(with: try Data(contentsOf: url)) as? [[String: Any]]
        #expect(parsed?.count == 300)
    }
}
