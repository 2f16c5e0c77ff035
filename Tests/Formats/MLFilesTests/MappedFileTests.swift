import Glibc
import MLFiles
import MLNumerics
import Testing

/// Files that are shortened while they are mapped: their bytes are zeros, and they say so; nothing ends the process.
struct MappedFileTests {
    private func withFolder<R>(_ body: (String) throws -> R) throws -> R {
        let folder = try FileAccess.makeTemporaryFolder("mapped")
        defer { try? FileAccess.remove(folder) }
        return try body(folder)
    }

    @Test func theMissingPartReadsAsZerosAndIsTold() throws {
        try withFolder { folder in
            let bytes = [UInt8](repeating: 7, count: 5 * 4096 + 10)
            let (path, other) = (folder + "/shortened", folder + "/whole")
            try FileAccess.write(bytes, to: path)
            try FileAccess.write(bytes, to: other)
            let (mapped, whole) = (try MappedFile(path), try MappedFile(other))
            try mapped.storage.checkWhole()
            #expect(truncate(path, 2 * 4096) == 0)
            let sums = [mapped, whole].map { $0.withBytes { $0.reduce(0) { $0 + Int($1) } } }
            #expect(sums == [7 * 2 * 4096, 7 * bytes.count])
            let error = #expect(throws: ModelError.self) { try mapped.storage.checkWhole() }
            #expect("\(try #require(error))".contains(path))
            try whole.storage.checkWhole()
            // The replaced contents stay, and the file can be mapped again.
            #expect(mapped.withBytes { $0[4 * 4096] } == 0)
            #expect(try FileAccess.read(path) == [UInt8](repeating: 7, count: 2 * 4096))
        }
    }

    @Test func regionsOfAFileTellItToo() throws {
        try withFolder { folder in
            let path = folder + "/shortened"
            try FileAccess.write([UInt8](repeating: 1, count: 3 * 4096), to: path)
            let storage = try MappedFile(path).storage
            let region = TensorStorage(regionOf: storage, offset: 2 * 4096 + 4, byteCount: 16)
            #expect(truncate(path, 4096) == 0)
            #expect(region.withTransientBytes(from: 0, count: 16) { $0.load(as: UInt32.self) } == 0)
            #expect(throws: ModelError.self) { try region.checkWhole() }
        }
    }

    /// Threads that map, lose and unmap files at once.
    @Test func manyAtOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    try withFolder { folder in
                        for turn in 0..<50 {
                            let path = folder + "/\(task).\(turn)"
                            try FileAccess.write([UInt8](repeating: 1, count: 4 * 4096), to: path)
                            let mapped = try MappedFile(path)
                            let isShortened = turn % 2 == task % 2
                            if isShortened { #expect(truncate(path, 4096) == 0) }
                            let sum = mapped.withBytes { $0.reduce(0) { $0 + Int($1) } }
                            #expect(sum == (isShortened ? 4096 : 4 * 4096))
                            #expect((mapped.storage.truncatedFile == path) == isShortened)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
