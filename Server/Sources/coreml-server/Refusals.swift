import Logging
import ServerCore
import ServiceLifecycle

/// Writes refusals to the audit log every second, and once more at the end.
struct Refusals: ServiceLifecycle.Service {
    let service: ServerCore.Service
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                await write()
            }
        }
        await write()
    }

    private func write() async {
        do { try await service.writeDenials() } catch {
            logger.error("Refusals could not be written into the audit log: \(error)")
        }
    }
}
