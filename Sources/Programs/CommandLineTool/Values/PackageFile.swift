import Crypto
import Foundation
import FoundationNetworking
import MLExtractors
import MLFiles
import MLNumerics
import Synchronization

/// Obtains the file of a package: from a disk, an address, or a package index.
enum PackageFile {
    /// The largest page of a package index, in bytes.
    private static let pageLimit = 1 << 24

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func sha256(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Reads or fetches a package's file; nothing is stored.
    ///
    /// - Parameters:
    ///   - source: The package.
    ///   - from: The file, a folder that holds it, or its address; `nil` for the index.
    ///   - index: The address of a package index; `nil` for `PIP_INDEX_URL` or Python's.
    /// - Returns: The bytes, and where they are from.
    /// - Throws: `Failure` when it cannot be obtained.
    static func read(_ source: Extractor.Source, from: String?, index: String?) throws -> (bytes: [UInt8], path: String)
    {
        if let from, !from.contains("://") {
            let path = FileAccess.kind(of: from) == .folder ? from + "/" + source.file : from
            return (try failing { () throws(ModelError) in try FileAccess.read(path) }, path)
        }
        let address = try from.map(url) ?? find(source, index)
        note("fetching \(source.file) (\(byteText(source.byteCount))) from \(address.host ?? address.absoluteString)")
        let data = try Download.data(at: address, accept: "*/*", limit: source.byteCount)
        return ([UInt8](data), address.absoluteString)
    }

    private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host != nil else {
            throw Failure("'\(text)' is not an http or https address")
        }
        return url
    }

    /// The address of a package's file, as the package's page in an index states it.
    private static func find(_ source: Extractor.Source, _ index: String?) throws -> URL {
        let stated = ProcessInfo.processInfo.environment["PIP_INDEX_URL"].flatMap { $0.isEmpty ? nil : $0 }
        var base = index ?? stated ?? "https://pypi.org/simple"
        while base.hasSuffix("/") { base.removeLast() }
        let page = try url(base + "/" + source.package + "/")
        let data = try Download.data(
            at: page,
            accept: "application/vnd.pypi.simple.v1+json, text/html;q=0.5",
            limit: pageLimit
        )
        guard let address = Self.address(of: source.file, in: data, at: page) else {
            throw Failure(
                "\(page.absoluteString) does not list \(source.file); name another index with --index, or the file with "
                    + "--from"
            )
        }
        return address
    }

    /// The address of a file on the page of an index: JSON (PEP 691) or HTML (PEP 503).
    static func address(of file: String, in page: Data, at url: URL) -> URL? {
        if let object = try? JSONSerialization.jsonObject(with: page) as? [String: Any] {
            let files = object["files"] as? [[String: Any]] ?? []
            let found = files.first { $0["filename"] as? String == file }?["url"] as? String
            return found.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
        }
        let text = String(decoding: page, as: UTF8.self)
        for part in text.components(separatedBy: "href=").dropFirst() {
            guard let quote = part.first, quote == "\"" || quote == "'" else { continue }
            let link = part.dropFirst().prefix { $0 != quote }.prefix { $0 != "#" }
            guard link.split(separator: "/").last.map(String.init) == file else { continue }
            let address = link.replacing("&amp;", with: "&")
            return URL(string: String(address), relativeTo: url)?.absoluteURL
        }
        return nil
    }
}

/// A download into memory that ends when it is larger than expected.
private final class Download: NSObject, URLSessionDataDelegate, Sendable {
    private let limit: Int
    private let done = DispatchSemaphore(value: 0)
    private let state = Mutex<(data: Data, status: Int, problem: String?)>((Data(), 0, nil))

    private init(limit: Int) { self.limit = limit }

    /// The body at an address.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - accept: The types that are accepted.
    ///   - limit: The largest size that is accepted, in bytes.
    /// - Returns: The body, of an answer with the status 200.
    /// - Throws: `Failure` when the host cannot be reached, answers with an error or with more bytes.
    static func data(at url: URL, accept: String, limit: Int) throws -> Data {
        let download = Download(limit: limit)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: url)
        request.setValue(accept, forHTTPHeaderField: "Accept")
        session.dataTask(with: request).resume()
        download.done.wait()
        let (data, status, problem) = download.state.withLock { $0 }
        if let problem { throw Failure("\(url.absoluteString) cannot be fetched: \(problem)") }
        guard status == 200 else {
            throw Failure("\(url.absoluteString) cannot be fetched: the server answered \(status)")
        }
        return data
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard state.data.count + data.count <= limit else {
                state.problem = "it has more than the expected \(limit) bytes"
                return true
            }
            state.data.append(data)
            return false
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { state in
            state.status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
            if let error, state.problem == nil { state.problem = error.localizedDescription }
        }
        done.signal()
    }
}
