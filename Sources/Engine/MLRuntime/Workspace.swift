import MLNumerics
import Synchronization

/// The memory of one run of one plan: the arena, and the address of every slot.
///
/// `@unchecked Sendable`: it is used by one thread at a time, between `WorkspacePool.take` and `putBack`.
final class Workspace: @unchecked Sendable {
    let arena: UnsafeMutableRawPointer
    let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    let slots: UnsafeMutablePointer<Int32>
    /// The slots whose address changes from run to run.
    private let moving: [(slot: Int, base: Plan.Base, offset: Int)]
    let scratch: UnsafeMutableRawPointer

    init(_ plan: Plan) {
        arena = TensorMemory.allocate(max(plan.arenaByteCount + plan.scratchByteCount, 64))
        scratch = arena + plan.arenaByteCount
        pointers = .allocate(capacity: max(plan.positions.count, 1))
        pointers.initialize(repeating: nil, count: max(plan.positions.count, 1))
        slots = .allocate(capacity: max(plan.slots.count, 1))
        slots.initialize(from: plan.slots, count: plan.slots.count)
        var moving: [(slot: Int, base: Plan.Base, offset: Int)] = []
        for (slot, position) in plan.positions.enumerated() {
            switch position.base {
            case .arena: pointers[slot] = arena + position.offset
            case .constant(let index): pointers[slot] = plan.constants[index].address + position.offset
            case .input, .output: moving.append((slot, position.base, position.offset))
            }
        }
        self.moving = moving
    }

    deinit {
        arena.deallocate()
        pointers.deallocate()
        slots.deallocate()
    }

    /// Sets the slots in the caller's memory to this run's inputs and outputs.
    func bind(inputs: [Tensor], outputs: [Tensor]) {
        for (slot, base, offset) in moving {
            switch base {
            case .input(let index): pointers[slot] = inputs[index].address + offset
            case .output(let index): pointers[slot] = outputs[index].address + offset
            case .arena, .constant: break
            }
        }
    }
}

/// Idle workspaces.
///
/// Taking and returning are atomic exchanges, never a lock; a workspace that finds no free slot is freed.
///
/// `@unchecked Sendable`: the slots are atomics.
final class WorkspacePool: @unchecked Sendable {
    private static let capacity = 8
    private let positions: UnsafeMutablePointer<Atomic<UInt>>

    init() {
        positions = .allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity { (positions + index).initialize(to: Atomic(0)) }
    }

    func take(for plan: Plan) -> Workspace {
        for index in 0..<Self.capacity {
            let address = positions[index].exchange(0, ordering: .acquiringAndReleasing)
            if let pointer = UnsafeRawPointer(bitPattern: address) {
                return Unmanaged<Workspace>.fromOpaque(pointer).takeRetainedValue()
            }
        }
        return Workspace(plan)
    }

    func putBack(_ workspace: Workspace) {
        let retained = Unmanaged.passRetained(workspace)
        let address = UInt(bitPattern: retained.toOpaque())
        for index in 0..<Self.capacity
        where positions[index].compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing)
            .exchanged
        {
            return
        }
        retained.release()
    }

    deinit {
        for index in 0..<Self.capacity {
            if let pointer = UnsafeRawPointer(bitPattern: positions[index].load(ordering: .acquiring)) {
                Unmanaged<Workspace>.fromOpaque(pointer).release()
            }
        }
        positions.deinitialize(count: Self.capacity)
        positions.deallocate()
    }
}
