// What is a package about?  Learns the section of Debian packages (games, net, science…) from their one-line
// descriptions, which lie in the package index of every Debian machine, and holds the classifier against packages that it
// has not seen.
import CreateML
import Foundation
import NaturalLanguage

struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// The standard output of a program.
func output(of program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw Failure(description: "\(program) ended with status \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
}

/// The one-line description and the section of every package, each description once.
func packages() throws -> [(text: String, section: String)] {
    var seen: Set<Substring> = []
    var result: [(text: String, section: String)] = []
    var (text, section): (Substring?, Substring?) = (nil, nil)
    for line in try output(of: "apt-cache", ["dumpavail"]).split(separator: "\n", omittingEmptySubsequences: false) {
        if line.isEmpty {
            if let text, let section, seen.insert(text).inserted {
                result.append((String(text), String(section.split(separator: "/").last ?? section)))
            }
            (text, section) = (nil, nil)
        } else if line.hasPrefix("Description: ") {
            text = line.dropFirst("Description: ".count)
        } else if line.hasPrefix("Section: ") {
            section = line.dropFirst("Section: ".count)
        }
    }
    return result
}

/// Whether a row is held out: splitmix64 of its number is a multiple of 5.
func isHeldOut(_ row: Int) -> Bool {
    var z = UInt64(row) &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return (z ^ (z >> 31)) % 5 == 0
}

/// The accuracy of scikit-learn's LinearSVC on the same rows; `nil` where it is not installed.
func peer(_ training: [(text: String, section: String)], _ tests: [(text: String, section: String)]) throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("topics-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, rows) in [("train", training), ("test", tests)] {
        let lines = rows.map { "\($0.section)\t\($0.text)\n" }.joined()
        try Data(lines.utf8).write(to: folder.appendingPathComponent(name))
    }
    let script = """
        import sys, time
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.svm import LinearSVC
        def read(name):
            return zip(*(line.rstrip("\\n").split("\\t", 1) for line in open(sys.argv[1] + "/" + name, encoding="utf-8")))
        labels, texts = read("train")
        start = time.process_time()
        vectorizer = TfidfVectorizer(ngram_range=(1, 2))
        model = LinearSVC().fit(vectorizer.fit_transform(texts), labels)
        seconds = time.process_time() - start
        labels, texts = read("test")
        print(f"{100 * model.score(vectorizer.transform(texts), labels):.2f} % in {seconds:.1f} s of processor time")
        """
    let environment = ProcessInfo.processInfo.environment
    let pythons =
        ["COREML_TEXT", "COREML_ORACLES"].compactMap { environment[$0].map { $0 + "/bin/python" } } + ["python3"]
    for python in pythons {
        do {
            return try output(of: python, ["-c", script, folder.path]).trimmingCharacters(in: .whitespacesAndNewlines)
        } catch is Failure {
            // This Python has no scikit-learn; perhaps the next one has.
            continue
        }
    }
    return nil
}

let all = try packages()
var sizes: [String: Int] = [:]
for package in all { sizes[package.section, default: 0] += 1 }
let largest = Set(sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(20).map(\.key))
let rows = all.filter { largest.contains($0.section) }
guard rows.count > 1000 else {
    throw Failure(description: "the package index has \(rows.count) descriptions; run apt-get update first")
}
let training = rows.indices.filter { !isHeldOut($0) }.map { rows[$0] }
let tests = rows.indices.filter(isHeldOut).map { rows[$0] }
print("\(training.count) packages to learn from, \(tests.count) held out, \(largest.count) sections")

let start = clock()
let classifier = try MLTextClassifier(
    trainingData: Dictionary(grouping: training, by: \.section).mapValues { $0.map(\.text) },
    parameters: .init(validation: .none, language: .english)
)
let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
let metrics = classifier.evaluation(on: Dictionary(grouping: tests, by: \.section).mapValues { $0.map(\.text) })
let accuracy = String(format: "%.2f", 100 * (1 - metrics.classificationError))
print("MLTextClassifier: \(accuracy) % of the held-out packages in their section,")
print("  in \(String(format: "%.1f", seconds)) s of processor time, with its figures on the training data")
if let line = try peer(training, tests) {
    print("LinearSVC of scikit-learn: \(line)")
} else {
    print("LinearSVC of scikit-learn is not installed here; Oracles/Shared/environment text installs it")
}

let file = FileManager.default.temporaryDirectory.appendingPathComponent("Topics.mlmodel")
try classifier.write(to: file, metadata: MLModelMetadata(shortDescription: "The section of a Debian package"))
let model = try NLModel(contentsOf: file)
print("\n\(file.path) says:")
let own = Array(CommandLine.arguments.dropFirst())
let texts =
    own.isEmpty
    ? [
        "chess program with a three-dimensional board", "library to decode MP3 streams (development files)",
        "simulation of protein folding", "firewall with a web interface", "fonts for Old Norse runes",
    ] : own
for text in texts {
    let best = model.predictedLabelHypotheses(for: text, maximumCount: 3).sorted { $0.value > $1.value }
    let shares = best.map { "\($0.key) \(Int(($0.value * 100).rounded())) %" }.joined(separator: ", ")
    print("  \(text): \(shares)")
}
print("\nYour own: make demo-topics ARGS=\"'a chess engine' 'draws maps'\"\n  names the sections of these descriptions")
guard metrics.classificationError < 0.2 else {
    throw Failure(description: "fewer than four in five packages are in their section")
}
