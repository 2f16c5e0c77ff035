import Crypto

/// The assignment of devices to 100,000 buckets of a thousandth of a percent each.
///
/// A device's bucket is the same on every machine, uniformly distributed, and independent from salt to salt.
public enum Bucket {
    /// The number of buckets; one is 0.001 %.
    public static let count = 100_000

    /// The bucket of an installation, 0 to 99,999.
    ///
    /// It is the first eight bytes (big-endian) of SHA-256 over the install ID's bytes and the salt's, modulo 100,000.
    public static func number(installID: String, salt: String) -> Int {
        Int(bits(installID: installID, salt: salt) % UInt64(count))
    }

    /// The 16 bytes that stand for an installation in a segment: the beginning of the same hash.
    public static func member(installID: String, salt: String) -> [UInt8] {
        hash(installID, salt) { Array($0.prefix(16)) }
    }

    /// The first eight bytes (big-endian) of the same hash.
    static func bits(installID: String, salt: String) -> UInt64 {
        hash(installID, salt) { $0.loadUnaligned(as: UInt64.self).bigEndian }
    }

    private static func hash<R>(_ installID: String, _ salt: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        var (installID, salt) = (installID, salt)
        var hash = SHA256()
        installID.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        salt.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().withUnsafeBytes(body)
    }
}
