// First prediction: an app's own code, with nothing but Core ML.
//
// A network reads scans of handwritten digits that it has not seen while it was trained. This program describes its
// interface, draws one scan in the terminal with the model's answer, and counts the right answers among a hundred. With
// files as arguments it reads these instead.

import CoreML
import Foundation

let folder = URL(fileURLWithPath: "Tests/Fixtures/digits")
let files = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }

/// Grey pixels as text: two rows of pixels in a line, as the upper and the lower half of each character.
func text(_ buffer: CVPixelBuffer) -> String {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    guard let base = CVPixelBufferGetBaseAddress(buffer) else { return "" }
    let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    func isInk(_ row: Int, _ column: Int) -> Bool {
        row < height && base.load(fromByteOffset: row * stride + column, as: UInt8.self) > 96
    }
    let lines = Swift.stride(from: 0, to: height, by: 2).map { row in
        let line = (0..<width).map { column in
            switch (isInk(row, column), isInk(row + 1, column)) {
            case (true, true): "█"
            case (true, false): "▀"
            case (false, true): "▄"
            case (false, false): " "
            }
        }
        return "  " + line.joined()
    }
    return lines.filter { !$0.allSatisfy { $0 == " " } }.joined(separator: "\n")
}

/// The digit and its probability.
func summary(_ answer: any MLFeatureProvider) -> (digit: String, probability: Double) {
    let digit = answer.featureValue(for: "digit")?.stringValue ?? ""
    let probabilities = answer.featureValue(for: "probabilities")?.dictionaryValue ?? [:]
    return (digit, probabilities[digit]?.doubleValue ?? 0)
}

func percent(_ number: Double) -> String { String(format: "%.1f %%", 100 * number) }

/// A model of digits, and what its image has to be.
struct Reader {
    let model: MLModel
    let constraint: MLImageConstraint

    init(_ package: URL) throws {
        let compiled = try MLModel.compileModel(at: package)
        defer { try? FileManager.default.removeItem(at: compiled) }
        model = try MLModel(contentsOf: compiled)
        guard let constraint = model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: package.path])
        }
        self.constraint = constraint
    }

    /// Predicts one file, and returns the buffer that the model saw, too.
    func read(_ file: URL) async throws -> (image: CVPixelBuffer?, answer: any MLFeatureProvider) {
        let image = try MLFeatureValue(imageAt: file, constraint: constraint)
        let input = try MLDictionaryFeatureProvider(dictionary: ["image": image])
        return (image.imageBufferValue, try await model.prediction(from: input))
    }

    func show(_ file: URL) async throws {
        let (image, answer) = try await read(file)
        print("\n" + (image.map(text) ?? ""))
        let (digit, probability) = summary(answer)
        print("\(file.lastPathComponent): \(digit), with a probability of \(percent(probability))")
    }
}

func describe(_ model: MLModel) {
    let interface = model.modelDescription
    print("Digits.mlpackage: \(interface.metadata[.description] ?? "")")
    for (name, input) in interface.inputDescriptionsByName.sorted(by: { $0.key < $1.key }) {
        print("  takes   \(name): \(input)")
    }
    for (name, output) in interface.outputDescriptionsByName.sorted(by: { $0.key < $1.key }) {
        print("  answers \(name): \(output)")
    }
}

/// Reads all scans of a folder, whose names begin with their digit.
///
/// - Returns: Whether at least 97 % are right. The network is right on 99.6 % of all that were held out.
func count(_ reader: Reader, _ folder: URL) async throws -> Bool {
    let scans = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == "png" }
        .sorted { $0.lastPathComponent < $1.lastPathComponent }
    var wrong: [String] = []
    var durations: [Double] = []
    for scan in scans {
        let start = ContinuousClock.now
        let (_, answer) = try await reader.read(scan)
        durations.append((ContinuousClock.now - start) / .milliseconds(1))
        let (digit, probability) = summary(answer)
        if !scan.lastPathComponent.hasPrefix(digit + "-") {
            let name = scan.lastPathComponent
            wrong.append("  \(name) was read as \(digit), with a probability of \(percent(probability))")
        }
    }
    let right = scans.count - wrong.count
    let share = Double(right) / Double(scans.count)
    print(
        """

        \(right) of \(scans.count) scans that it was not trained on are right (\(percent(share))), in \
        \(String(format: "%.2f", durations.sorted()[scans.count / 2])) ms each with reading the file
        """
    )
    for line in wrong { print(line) }
    return share >= 0.97
}

do {
    let reader = try Reader(folder.appendingPathComponent("Digits.mlpackage"))
    describe(reader.model)
    guard files.isEmpty else {
        for file in files { try await reader.show(file) }
        exit(0)
    }
    let heldOut = folder.appendingPathComponent("held-out")
    try await reader.show(heldOut.appendingPathComponent("3-0.png"))
    let isGood = try await count(reader, heldOut)
    print(
        """

        This program: Examples/FirstPrediction/main.swift. Your own scans, one white digit on black that fills the image:
          make demo ARGS='three.png seven.png'
        The command-line tool does the same, and trains, inspects and measures models; it takes some minutes more to build:
          swift build -c release --product coreml
          .build/release/coreml predict Tests/Fixtures/digits/Digits.mlpackage --input image=three.png
          .build/release/coreml preview Tests/Fixtures/digits/Digits.mlpackage --open    # draw a digit in the browser
        """
    )
    exit(isGood ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
    exit(1)
}
