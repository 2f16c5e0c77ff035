public import Foundation
public import HummingbirdCore
import HummingbirdHTTP2
public import Logging
import NIOCore
import NIOSSL
import ServerSupport
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// The reason why a certificate and its key cannot be used.
public struct CertificateError: Error, Sendable, CustomStringConvertible {
    /// The reason, with the path of the file.
    public let description: String
}

/// The server's TLS certificate with its key, in PEM files that are read again when they are replaced.
///
/// Open connections continue; new ones get the newest certificate.
public final class ServerCertificate: Sendable {
    private struct State {
        var pair: Pair
        /// The identities of the files that were read last, including ones that could not be used.
        var stamps: [FileIdentity]
    }

    /// A certificate chain and the key.
    private struct Pair {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
        /// The date at which the first certificate of the chain expires.
        let expires: Date
    }

    /// The properties that distinguish a file from one that replaced it.
    private struct FileIdentity: Equatable {
        /// The path after following links.
        let path: String
        /// The file's number in the file system, its length, and its date of modification.
        let attributes: [String]
    }

    private let certificatePath: String
    private let keyPath: String
    private let state: Mutex<State>

    /// Reads a certificate and its key.
    ///
    /// - Parameters:
    ///   - certificatePath: the server's certificate in PEM, followed by those of its issuers.
    ///   - keyPath: its private key in PEM, without a passphrase.
    /// - Throws: a ``CertificateError`` when the files cannot be read, or do not belong together.
    public init(certificatePath: String, keyPath: String) throws(CertificateError) {
        (self.certificatePath, self.keyPath) = (certificatePath, keyPath)
        let stamps = [certificatePath, keyPath].map { Self.stamp($0) }
        state = Mutex(State(pair: try Self.read(certificatePath, keyPath), stamps: stamps.compactMap { $0 }))
    }

    /// The date at which the first certificate of the chain expires.
    public var expires: Date { state.withLock { $0.pair.expires } }

    /// Reads the files if they have changed, and returns whether there is another certificate now.
    ///
    /// Throws a ``CertificateError`` when the files cannot be used; the previous certificate remains in use.
    public func reload() throws(CertificateError) -> Bool {
        let stamps = [certificatePath, keyPath].compactMap { Self.stamp($0) }
        guard state.withLock({ $0.stamps != stamps }) else { return false }
        state.withLock { $0.stamps = stamps }
        let pair = try Self.read(certificatePath, keyPath)
        state.withLock { $0.pair = pair }
        return true
    }

    /// The identity of a file; `nil` when there is none.
    private static func stamp(_ path: String) -> FileIdentity? {
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else { return nil }
        return FileIdentity(
            path: place,
            attributes: [.systemFileNumber, .size, .modificationDate].map { String(describing: attributes[$0]) }
        )
    }

    // MARK: Reading

    private static let maximumFileByteCount = 1 << 20

    private static func bytes(_ path: String) throws(CertificateError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let data = try file.read(upToCount: maximumFileByteCount + 1) ?? Data()
            guard data.count <= maximumFileByteCount else {
                throw CertificateError(description: "\(path) is too large for a certificate or a key.")
            }
            return Array(data)
        } catch let error as CertificateError { throw error } catch {
            throw CertificateError(description: "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws(CertificateError) -> Pair {
        let (certificateBytes, keyBytes) = (try bytes(certificatePath), try bytes(keyPath))
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMBytes(certificateBytes) } catch {
            throw CertificateError(description: "\(certificatePath) holds no certificate in PEM.")
        }
        guard let first = chain.map(\.notValidAfter).min() else {
            throw CertificateError(description: "\(certificatePath) holds no certificate in PEM.")
        }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem) } catch {
            throw CertificateError(description: "\(keyPath) holds no private key in PEM, or one with a passphrase.")
        }
        // The library checks that the key belongs to the certificate.
        do { _ = try NIOSSLContext(configuration: configuration(chain, key)) } catch {
            throw CertificateError(
                description: "The key in \(keyPath) is not that of the first certificate in \(certificatePath)."
            )
        }
        return Pair(chain: chain, key: key, expires: Date(timeIntervalSince1970: TimeInterval(first)))
    }

    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    // MARK: Serving

    /// The TLS configuration of each connection.
    var configuration: TLSConfiguration {
        let pair = state.withLock { $0.pair }
        var configuration = Self.configuration(pair.chain, pair.key)
        configuration.sslContextCallback = { [self] _, promise in
            let pair = state.withLock { $0.pair }
            var now = NIOSSLContextConfigurationOverride()
            now.certificateChain = pair.chain.map { .certificate($0) }
            now.privateKey = .privateKey(pair.key)
            promise.succeed(now)
        }
        return configuration
    }
}

extension Reception {
    /// The server's protocols: HTTP/1.1, or with a certificate HTTP/2 or HTTP/1.1 over TLS as negotiated.
    public func server(_ certificate: ServerCertificate?) -> HTTPServerBuilder {
        let (http1, patience) = (http1, patience)
        guard let certificate else {
            return HTTPServerBuilder { responder in
                GuardedChannel(base: HTTP1Channel(responder: responder, configuration: http1), patience: patience)
            }
        }
        return HTTPServerBuilder { responder in
            let base = try HTTP2UpgradeChannel(
                tlsChannelConfiguration: .init(tlsConfiguration: certificate.configuration),
                configuration: .init(idleTimeout: patience.duration, streamConfiguration: http1),
                responder: responder
            )
            return GuardedChannel(base: base, patience: patience)
        }
    }
}

/// Checks periodically, and at `SIGHUP`, whether there is a new certificate.
public struct CertificateWatch: ServiceLifecycle.Service {
    private let certificate: ServerCertificate
    private let logger: Logger
    private let interval: Duration
    private let clock: any Clock<Duration>

    /// Creates the check, by default every 10 seconds of `clock`.
    public init(
        _ certificate: ServerCertificate,
        logger: Logger,
        interval: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.certificate, self.logger, self.interval, self.clock) = (certificate, logger, interval, clock)
    }

    /// The time in seconds before a certificate's expiry from which its end is logged.
    private static let notice = 14 * 86_400.0

    /// Runs until the server shuts down, logging new certificates, failures and approaching expiry.
    public func run() async throws {
        logExpiry()
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await poll() }
                group.addTask { await listen() }
            }
        }
    }

    private func poll() async {
        while (try? await clock.sleep(for: interval)) != nil { reload() }
    }

    private func listen() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
    }

    private func reload() {
        do throws(CertificateError) {
            guard try certificate.reload() else { return }
            logger.notice("There is a new certificate, which is valid until \(certificate.expires.ISO8601Format()).")
            logExpiry()
        } catch {
            logger.error("The previous certificate stays in use: \(error)")
        }
    }

    private func logExpiry() {
        let (expires, now) = (certificate.expires, Date())
        if expires <= now {
            logger.warning("The certificate has expired (\(expires.ISO8601Format())): clients refuse it.")
        } else if expires.timeIntervalSince(now) < Self.notice {
            logger.warning("The certificate expires soon: \(expires.ISO8601Format()).")
        }
    }
}
