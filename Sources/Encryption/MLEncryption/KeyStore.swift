import CSecrets
import Glibc
import MLFiles
package import MLNumerics

/// The storage of a user's secret keys: one file each, in a folder that nobody else can read.
///
/// Each is sealed as strongly as the machine allows.
package struct KeyStore: Sendable {
    /// The protection of a key, the strongest first.
    package enum Strength: String, Sendable, CaseIterable {
        /// Sealed by systemd with the machine's TPM2: the file is useless on another machine.
        case tpm = "systemd credential, sealed by the TPM2"
        /// Sealed by systemd with a key that only the superuser can read.
        case host = "systemd credential, sealed with the machine's key"
        /// Unsealed, in a file that only its owner can read.
        case file = "file of mode 0600, not sealed"
    }

    package struct Entry: Sendable {
        package let keyID: KeyID
        package let strength: Strength
        package let path: String
    }

    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// The user's store: `COREML_KEY_STORE`, else `coreml/keys` in `XDG_DATA_HOME` or `~/.local/share`.
    package static var user: KeyStore {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
            return value
        }
        if let folder = variable("COREML_KEY_STORE") { return KeyStore(folder: folder) }
        let home = variable("HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } ?? "."
        let data = variable("XDG_DATA_HOME") ?? home + "/.local/share"
        return KeyStore(folder: data + "/coreml/keys")
    }

    // MARK: Storing

    /// Stores a key that is in the clear, as strongly as the machine allows, or as `strength` says.
    @discardableResult
    package func store(_ key: ModelKey, strength: Strength? = nil) throws(ModelError) -> Strength {
        guard key.secret != nil else { throw KeyPair.locked(key) }
        try makeFolder()
        let text = key.text
        if strength != .file,
            let (sealed, found) = SystemCredentials.seal(text, name: key.keyID.description, strength: strength)
        {
            try KeyFiles.write(sealed, to: path(key.keyID, .host), isSecret: true)
            try FileAccess.remove(path(key.keyID, .file))
            return found
        }
        if let strength, strength != .file {
            throw ModelError(.io, "This machine offers no \(strength.rawValue); leave the choice to coreml.")
        }
        try KeyFiles.write(text, to: path(key.keyID, .file), isSecret: true)
        try FileAccess.remove(path(key.keyID, .host))
        return .file
    }

    private func makeFolder() throws(ModelError) {
        try FileAccess.makeFolder(folder)
        guard chmod(folder, 0o700) == 0 else { throw OpenFile.failure("protect the key store", folder) }
    }

    private func path(_ keyID: KeyID, _ strength: Strength) -> String {
        folder + "/" + keyID.description + (strength == .file ? KeyFiles.suffix : ".cred")
    }

    // MARK: Finding

    /// The key with this identifier; `nil` when the store has none.
    package func key(_ keyID: KeyID) throws(ModelError) -> ModelKey? {
        let plain = path(keyID, .file)
        if FileAccess.kind(of: plain) == .file { return try KeyFiles.read(plain) }
        let sealed = path(keyID, .host)
        guard FileAccess.kind(of: sealed) == .file else { return nil }
        let bytes = try FileAccess.read(sealed)
        return try withErrorContext(sealed) { () throws(ModelError) in
            try SystemCredentials.open(bytes, name: keyID.description) { (text) throws(ModelError) in
                try ModelKey(text: text)
            }
        }
    }

    private func sealedStrength(_ path: String) throws(ModelError) -> Strength? {
        SystemCredentials.strength(of: try FileAccess.read(path))
    }

    package func remove(_ keyID: KeyID) throws(ModelError) {
        try FileAccess.remove(path(keyID, .file))
        try FileAccess.remove(path(keyID, .host))
    }

    /// The keys in the store.
    package func entries() throws(ModelError) -> [Entry] {
        guard FileAccess.kind(of: folder) == .folder else { return [] }
        var result: [Entry] = []
        for name in try FileAccess.names(in: folder) {
            for ending in [KeyFiles.suffix, ".cred"] where name.hasSuffix(ending) {
                let path = folder + "/" + name
                guard let bytes = Hexadecimal.bytes(name.dropLast(ending.count).utf8), bytes.count == KeyID.byteCount,
                    let strength = ending == ".cred" ? try sealedStrength(path) : .file
                else { continue }
                result.append(Entry(keyID: KeyID(bytes), strength: strength, path: path))
            }
        }
        return result
    }
}

/// systemd's credentials: secrets sealed with the machine's TPM2, a key of the machine, or both.
enum SystemCredentials {
    private static let program = "systemd-creds"
    private static let maximumByteCount = 64 << 10

    /// The protection of a sealed text, by the method's identifier at its beginning; `nil` for none.
    ///
    /// An unknown method counts as the weaker one.
    static func strength(of sealed: [UInt8]) -> KeyStore.Strength? {
        let start = sealed.filter { $0 != UInt8(ascii: "\n") }.prefix(24)
        guard let method = Base64.bytes(start)?.prefix(16), method.count == 16 else { return nil }
        let name = Hexadecimal.text(method)
        if name == withoutKey { return nil }
        return withTPM.contains(name) ? .tpm : .host
    }

    /// systemd's identifiers of the methods that use the TPM2.
    ///
    /// It is used alone or with the machine's key, with or without a public key for its policy, for the machine or for
    /// a user.
    private static let withTPM: Set = [
        "0c7cc07b117645919c4b0bea08bc20fe", "faf7eb9341e3412ca1a436f95a29362f", "93a894094874449090caf2fc93cab553",
        "ef4ac13679a9480ea7db68897f9f165d", "af4950a849134eb1a73846304ff30c05", "adbc4ca3efb64201ba881b6f2e4095ea",
    ]
    /// The identifier of the method that seals with a key of zeros.
    private static let withoutKey = "058469daf6f54324800549da0f8ea2fb"

    /// The sealed form of `text`; `nil` where the machine has no such service, or not for this user.
    ///
    /// `wanted` is the protection; `nil` for the one that systemd chooses.
    static func seal(
        _ text: [UInt8],
        name: String,
        strength wanted: KeyStore.Strength?
    ) -> (sealed: [UInt8], strength: KeyStore.Strength)? {
        var arguments = [program, "encrypt", "--name=\(name)"]
        switch wanted {
        case .tpm?: arguments.append("--with-key=tpm2")
        case .host?: arguments.append("--with-key=host")
        case .file?, nil: break
        }
        var output = [UInt8](repeating: 0, count: maximumByteCount)
        let count = runProgram(arguments + ["-", "-"], text, &output)
        guard count > 0 else { return nil }
        let sealed = Array(output[..<count])
        // A text that cannot be opened again would be lost.
        let isRight = try? open(sealed, name: name) { (opened) throws(ModelError) in opened.elementsEqual(text) }
        guard isRight == true, let strength = strength(of: sealed), wanted == nil || wanted == strength else {
            return nil
        }
        return (sealed, strength)
    }

    /// Lends a text that `seal` has sealed.
    static func open<R>(
        _ sealed: [UInt8],
        name: String,
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        try ErasedBytes.with(maximumByteCount) { (buffer) throws(ModelError) in
            let count = runProgram([program, "decrypt", "--name=\(name)", "-", "-"], sealed, buffer)
            guard count > 0 else {
                throw ModelError(
                    .keyFetch,
                    "\(program) cannot open this key: it was sealed on another machine, or for another user."
                )
            }
            return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}

/// Runs a program with `input` as its standard input; returns the number of bytes it wrote, or -1 when it failed.
private func runProgram(_ arguments: [String], _ input: [UInt8], _ output: UnsafeMutableRawBufferPointer) -> Int {
    let copies = arguments.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    var pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { list in
        input.withUnsafeBytes { input in
            guard let first = list.baseAddress else { return -1 }
            return Int(csecrets_run(first, input.baseAddress, input.count, output.baseAddress, output.count))
        }
    }
}

private func runProgram(_ arguments: [String], _ input: [UInt8], _ output: inout [UInt8]) -> Int {
    output.withUnsafeMutableBytes { runProgram(arguments, input, $0) }
}
