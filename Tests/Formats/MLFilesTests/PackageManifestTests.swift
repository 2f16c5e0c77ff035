import MLFiles
import Testing

@Suite struct PackageManifestTests {
    @Test func textComesBack() throws {
        let item = PackageManifest.Item(
            identifier: PackageManifest.makeIdentifier(),
            name: "näme \"quoted\"\n",
            author: "a",
            description: "d\\",
            path: "a/b.mlmodel"
        )
        #expect(item.identifier.count == 36)
        let text = PackageManifest(items: [item], rootIdentifier: item.identifier).json
        let back = try PackageManifest(json: Array(text.utf8))
        #expect(try back.root().name == item.name)
        #expect(back.json == text)
    }

    @Test(arguments: [
        ("", "line 1, column 1"), ("[]", "not an object"), ("{\"fileFormatVersion\": 1}", "fileFormatVersion"),
        ("{\"fileFormatVersion\": \"2.0.0\"}", "2.0.0"), ("{\"fileFormatVersion\": \"1.0.0\"}", "itemInfoEntries"),
        (manifest("{\"A\": 1}"), "A"), (manifest("{\"A\": {}}"), "A › path"),
        (manifest("{\"A\": {\"path\": \"../x\"}}"), "leads out"),
        (manifest("{\"A\": {\"path\": \"x\"}}", root: "\"B\""), "B is not among the 1 items"),
        (manifest("{\"A\": {\"path\": \"x\"}}", root: "7"), "rootModelIdentifier"),
        (manifest("{\"A\": {\"path\": \"x\"}, \"A\": {\"path\": \"x\"}}"), "occurs twice"),
    ])
    func brokenTextIsNamed(_ text: String, _ expected: String) {
        #expect(failure { _ = try PackageManifest(json: Array(text.utf8)).root() }.contains(expected))
    }

    @Test(arguments: [
        "{", "[1,]", "{\"a\":1,}", "nul", "01", "1.", "1e", "-", "\"\\x\"", "\"\\ud800\"", "\"\u{1}\"", "1 2", "'a'",
        String(repeating: "[", count: 10_000),
    ])
    func strictReaderRefuses(_ text: String) {
        #expect(failure { _ = try JSONReader.read(Array(text.utf8)) }.contains("line 1, column"))
    }

    @Test func valuesAreRead() throws {
        let text = #" {"a": [1, -2.5e-3, true, false, null, "\u00e9\ud83d\ude00\n"], "b": {}} "#
        let expected = JSONValue.object([
            .init("a", .array([.integer(1), .number(-0.0025), .bool(true), .bool(false), .null, .string("é😀\n")])),
            .init("b", .object([])),
        ])
        #expect(try JSONReader.read(Array(text.utf8)) == expected)
        #expect(try JSONReader.read(Array(expected.text.utf8)) == expected)
    }
}

private func manifest(_ entries: String, root: String = "\"A\"") -> String {
    "{\"fileFormatVersion\": \"1.0.0\", \"itemInfoEntries\": \(entries), \"rootModelIdentifier\": \(root)}"
}
