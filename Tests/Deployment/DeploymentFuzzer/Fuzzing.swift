// Gives readers of what comes from files and the network bytes that libFuzzer finds.
//   COREML_FUZZ=1 swift build -c release --sanitize fuzzer --product DeploymentFuzzer
//   FUZZ_TARGET=policy DeploymentFuzzer CORPUS …      libFuzzer's own options follow
// Reliability/fuzz does this for every reader.

import Foundation

private let chosenTarget: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        FileHandle.standardError.write(
            Data("FUZZ_TARGET is one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))\n".utf8)
        )
        exit(64)
    }
    return target
}()

/// Tries one input; the name that libFuzzer, whose `main` the program has, asks for (LLVM, docs/LibFuzzer.html).
@_cdecl("LLVMFuzzerTestOneInput")
public func tryInput(bytes: UnsafePointer<UInt8>?, size: Int) -> CInt {
    chosenTarget.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
    return 0
}
