package import DeploymentClient
import Foundation
import Synchronization

/// A server in memory, which can misbehave.
package final class SampleTransport: Transport {
    /// The change of a response.
    package typealias Fault =
        @Sendable (_ path: String, _ request: TransportRequest, TransportAnswer) throws -> TransportAnswer

    private struct State {
        var files: [String: [UInt8]] = [:]
        var fault: Fault?
        var paths: [String] = []
        var bytesSent = 0
    }

    private let state = Mutex(State())

    package init(_ deployment: SampleDeployment) { serve(deployment) }

    package func serve(_ deployment: SampleDeployment) { serve(deployment.files) }
    package func serve(_ files: [String: [UInt8]]) { state.withLock { $0.files = files } }

    /// Changes one bit of a file.
    package func flip(_ path: String, at offset: Int, bit: Int) {
        state.withLock { $0.files[path]?[offset] ^= 1 << UInt8(bit) }
    }

    package func setFault(_ fault: Fault?) { state.withLock { $0.fault = fault } }

    /// The paths that were asked for, and the bytes of bodies that were sent, since the last call.
    package func takeLog() -> (paths: [String], bytes: Int) {
        state.withLock { state in
            defer { (state.paths, state.bytesSent) = ([], 0) }
            return (state.paths, state.bytesSent)
        }
    }

    package func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer {
        let path = request.url.path
        let (file, fault) = state.withLock { state in
            state.paths.append(path)
            return (state.files[path], state.fault)
        }
        var answer = Self.answer(request, file)
        if let fault {
            do { answer = try fault(path, request, answer) } catch {
                throw error as? DeploymentError ?? DeploymentError(.offline, path, "\(error)")
            }
        }
        let sent = min(answer.body.count, request.limit)
        state.withLock { $0.bytesSent += sent }
        guard answer.body.count <= request.limit else {
            throw DeploymentError(.damaged, path, "The server sends more than \(request.limit) bytes.")
        }
        return try answer.delivered(to: request)
    }

    /// The response of a working server.
    private static func answer(_ request: TransportRequest, _ file: [UInt8]?) -> TransportAnswer {
        guard let file else { return TransportAnswer(status: 404) }
        if let known = request.headers["If-None-Match"], known == "\"\(SampleDeployment.hash(file).prefix(32))\"" {
            return TransportAnswer(status: 304)
        }
        guard let range = request.headers["Range"] else { return TransportAnswer(status: 200, body: file) }
        let bounds = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[0] < file.count else { return TransportAnswer(status: 416) }
        let wanted = bounds[0]..<min(bounds[1] + 1, file.count)
        return TransportAnswer(
            status: 206,
            headers: ["content-range": "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(file.count)"],
            body: Array(file[wanted])
        )
    }
}

/// A copy of a server as files in a folder, for programs that are ended and started again.
package struct FolderTransport: Transport {
    let folder: String

    package init(folder: String) { self.folder = folder }

    package func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer {
        let path = request.url.path
        guard let file = FileManager.default.contents(atPath: folder + path) else {
            return TransportAnswer(status: 404)
        }
        guard let range = request.headers["Range"] else { return TransportAnswer(status: 200, body: Array(file)) }
        let bounds = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2, bounds[1] < file.count, bounds[0] <= bounds[1] else {
            return TransportAnswer(status: 416)
        }
        let answer = TransportAnswer(
            status: 206,
            headers: ["content-range": "bytes \(bounds[0])-\(bounds[1])/\(file.count)"],
            body: Array(file[bounds[0]...bounds[1]])
        )
        return try answer.delivered(to: request)
    }
}
