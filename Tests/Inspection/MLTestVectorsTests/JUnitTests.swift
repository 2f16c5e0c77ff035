import Foundation
import MLFeatures
import MLNumerics
import MLTestVectors
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Results as JUnit XML, read back by a parser.
struct JUnitTests {
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var text = ""

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            elements.append((name, attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    @Test func parsersReadTheReport() throws {
        let vectors = TestVectors(cases: [
            TestCase(name: "fine", steps: [step(["y": .value(.tensor(Tensor([2, 4] as [Float], shape: [2])))])]),
            TestCase(name: "a <b> & \"c\"\u{1}\nd", steps: [step(["label": .value(.string("<&>\u{0}\u{FFFE}"))])]),
            TestCase(name: "broken", steps: [TestStep(inputs: [:], outputs: ["y": .value(.double(1))])]),
        ])
        let run = VectorRun(Doubling(), vectors)
        let report = JUnitReport(suite: "M & M.mlmodel", vectors.cases.map(run.result)).text
        let parser = XMLParser(data: Data(report.utf8))
        let reader = Reader()
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))\n\(report)")
        #expect(
            reader.elements.map(\.name) == [
                "testsuites", "testsuite", "testcase", "testcase", "failure", "testcase", "error",
            ]
        )
        let suite = reader.elements[1].attributes
        #expect(
            suite["name"] == "M & M.mlmodel" && suite["tests"] == "3" && suite["failures"] == "1"
                && suite["errors"] == "1"
        )
        #expect(suite["time"].flatMap(Double.init) != nil)
        #expect(reader.elements[3].attributes["name"] == "a <b> & \"c\"\u{FFFD}\nd")
        #expect(reader.elements[3].attributes["classname"] == "M & M.mlmodel")
        #expect(reader.elements[4].attributes["message"]?.contains("expected <&>\u{FFFD}\u{FFFD}, got even") == true)
        #expect(reader.text.contains("output 'label'"))
        #expect(reader.elements[6].attributes["message"]?.contains("'x' is missing") == true)
    }

    private func step(_ outputs: [String: ExpectedValue]) -> TestStep {
        TestStep(inputs: ["x": .tensor(Tensor([1, 2] as [Float], shape: [2]))], outputs: outputs)
    }
}
