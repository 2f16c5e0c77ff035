import Foundation
import MLNumerics

/// One captured model with its cases: inputs, expected outputs and how they were compared.
struct Fixture {
    struct Case {
        let folder: URL
        /// Cases of one session were predicted one after the other with one state.
        var session: String {
            folder.lastPathComponent.split(separator: "-").prefix(2).joined(separator: "-")
        }
        let test: String
        /// `nil`: the model's default.
        let functionName: String?
        /// By feature: a tensor, or a number.
        let inputs: [String: Tensor]
        let expected: [String: Tensor]
        let tolerances: [String: Tolerance]
    }

    struct Tolerance {
        var relative = 1e-3
        var signalToNoise: Double?
    }

    let folder: URL
    let modelPath: String
    private let caseFolders: [URL]

    /// The fixtures below `root`, by name.
    static func all(in root: URL) throws -> [Fixture] {
        let files = FileManager.default
        var result: [Fixture] = []
        for name in try files.contentsOfDirectory(atPath: root.path).sorted() {
            let folder = root.appending(path: name)
            guard let entries = try? files.contentsOfDirectory(atPath: folder.path),
                let model = entries.first(where: { $0.hasPrefix("model.") })
            else { continue }
            let cases = entries.filter { !$0.hasPrefix("model.") }.sorted().map { folder.appending(path: $0) }
            result.append(
                Fixture(folder: folder, modelPath: folder.appending(path: model).path, caseFolders: cases)
            )
        }
        return result
    }

    func cases() throws -> [Case] {
        try caseFolders.compactMap { folder in
            let url = folder.appending(path: "case.json")
            guard let data = try? Data(contentsOf: url),
                let about = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            else { return nil }
            var inputs: [String: Tensor] = [:]
            for (name, kind) in about["inputs"] as? [String: Any] ?? [:] {
                if kind is String {
                    inputs[name] = try NumPyArray.read(folder.appending(path: "in.\(safe(name)).npy"))
                } else if let pair = kind as? [Any], let number = pair.last as? Double {
                    inputs[name] = Tensor(scalar: number, .float64)
                }
            }
            var expected: [String: Tensor] = [:]
            var tolerances: [String: Tolerance] = [:]
            for (name, how) in about["outputs"] as? [String: [String: Any]] ?? [:] {
                expected[name] = try NumPyArray.read(folder.appending(path: "out.\(safe(name)).npy"))
                tolerances[name] = Tolerance(how)
            }
            return Case(
                folder: folder,
                test: about["test"] as? String ?? "",
                functionName: (about["function"] as? String).flatMap { $0.isEmpty ? nil : $0 },
                inputs: inputs,
                expected: expected,
                tolerances: tolerances
            )
        }
    }

    private func safe(_ name: String) -> String {
        String(name.map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" })
    }
}

extension Fixture.Tolerance {
    /// From the description of the suite's own comparison.
    init(_ how: [String: Any]) {
        switch how["by"] as? String {
        case "network rel_error": relative = how["delta"] as? Double ?? 0.01
        case "network SNR": signalToNoise = how["snr"] as? Double ?? 30
        case "assert_allclose":
            relative = max(how["rtol"] as? Double ?? 1e-7, how["atol"] as? Double ?? 0, 1e-5)
        default:
            let decimals = (how["args"] as? [Double])?.first ?? how["decimal"] as? Double ?? 4
            relative = 1.5 * pow(10, -min(decimals, 5))
        }
    }

    /// Why `found` is not `expected`, compared element by element whatever the shapes; `nil` when it is.
    func difference(_ found: Tensor, _ expected: Tensor) -> String? {
        guard found.count == expected.count else { return "shape \(found.shape) instead of \(expected.shape)" }
        let (x, y) = (found.values, expected.values)
        if let signalToNoise {
            let noise = zip(x, y).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
            let signal = y.reduce(0) { $0 + $1 * $1 }
            let ratio = 10 * log10((signal + 1e-10) / (noise + 1e-10))
            return ratio >= signalToNoise ? nil : "signal to noise \(ratio) dB"
        }
        var worst = (index: 0, error: 0.0)
        for index in x.indices where x[index] != y[index] && !(x[index].isNaN && y[index].isNaN) {
            let error = abs(x[index] - y[index]) / max(1, abs(x[index]), abs(y[index]))
            if !(error <= worst.error) { worst = (index, error.isNaN ? .infinity : error) }
        }
        guard worst.error > relative else { return nil }
        return "\(x[worst.index]) instead of \(y[worst.index]) at \(worst.index) of \(found.shape)"
    }
}
