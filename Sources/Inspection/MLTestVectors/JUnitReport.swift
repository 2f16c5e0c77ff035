import MLFiles

/// Results as JUnit XML, the format that GitLab, Jenkins and GitHub's reporters read.
package struct JUnitReport: Sendable {
    private let suite: String
    private let results: [CaseResult]

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - suite: The name of the model.
    ///   - results: The results of the cases.
    package init(suite: String, _ results: [CaseResult]) {
        self.suite = suite
        self.results = results
    }

    package var text: String {
        func count(_ matches: (CaseResult.Outcome) -> Bool) -> Int { results.count { matches($0.outcome) } }
        let failures = count { if case .failed = $0 { true } else { false } }
        let errors = count { if case .error = $0 { true } else { false } }
        let time = results.reduce(0) { $0 + $1.seconds }
        let totals =
            "tests=\"\(results.count)\" failures=\"\(failures)\" errors=\"\(errors)\" time=\"\(Self.seconds(time))\""
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites \(totals)>"]
        lines.append("  <testsuite name=\"\(Self.escaped(suite))\" \(totals) skipped=\"0\">")
        for result in results { lines += element(result) }
        lines.append("  </testsuite>")
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func element(_ result: CaseResult) -> [String] {
        let attributes =
            "name=\"\(Self.escaped(result.name))\" classname=\"\(Self.escaped(suite))\" "
            + "time=\"\(Self.seconds(result.seconds))\""
        switch result.outcome {
        case .passed: return ["    <testcase \(attributes)/>"]
        case .failed(let deviations):
            let texts = deviations.map { $0.text(of: result.stepCount) }
            return [
                "    <testcase \(attributes)>",
                "      <failure type=\"deviation\" message=\"\(Self.escaped(texts.first ?? ""))\">"
                    + Self.escaped(texts.joined(separator: "\n")) + "</failure>",
                "    </testcase>",
            ]
        case .error(let message):
            return [
                "    <testcase \(attributes)>",
                "      <error type=\"prediction\" message=\"\(Self.escaped(message))\"/>",
                "    </testcase>",
            ]
        }
    }

    private static func seconds(_ value: Double) -> String { JSONWriter.text((value * 1e6).rounded() / 1e6) }

    /// The text with XML's special characters escaped; characters that XML cannot hold become U+FFFD.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\t", "\r": result += "&#\(scalar.value);"
            default:
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                result.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
            }
        }
        return result
    }
}

extension CaseResult.StepDeviation {
    /// The deviation in one line.
    ///
    /// - Parameter count: The number of steps in the case.
    /// - Returns: The line.
    package func text(of count: Int) -> String {
        let location = deviation.location.isEmpty ? "" : " at \(deviation.location)"
        let share = deviation.count > 1 ? "; \(deviation.wrong) of \(deviation.count) values are wrong" : ""
        return (count > 1 ? "step \(step): " : "")
            + "output '\(deviation.output)'\(location): expected \(deviation.expected), got \(deviation.got) "
            + "(\(deviation.message)\(share))"
    }
}
