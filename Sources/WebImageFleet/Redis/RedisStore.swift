import FoundationEssentials

/// Keeps values in Redis or Valkey.
final class RedisStore: RemoteStore {
    /// The time for a write, in nanoseconds: nobody waits for it.
    static let writePatience: UInt64 = 2_000_000_000

    /// Returns the length and the end.
    private static let end = "return {redis.call('strlen',KEYS[1]),redis.call('getrange',KEYS[1],-ARGV[1],-1)}"
    /// Compares bytes and changes others.
    private static let change =
        "if redis.call('getrange',KEYS[1],ARGV[3],ARGV[3]+#ARGV[1]-1)~=ARGV[1] then return 0 end "
        + "for i=4,#ARGV,2 do redis.call('setrange',KEYS[1],ARGV[i],ARGV[i+1]) end "
        + "return redis.call('expire',KEYS[1],ARGV[2])"
    /// Adds to the sums.
    private static let sum = "for i=1,#ARGV,2 do redis.call('hincrby',KEYS[1],ARGV[i],ARGV[i+1]) end return 1"
    /// Returns the generation, which is created if there is none.
    private static let generation =
        "local g=redis.call('get',KEYS[1]) if g then return g end redis.call('set',KEYS[1],ARGV[1]) return ARGV[1]"
    /// Takes the lease; 2 if its owner has declined. The entry may have been stored since it was looked up.
    private static let acquisition =
        "if KEYS[2] and redis.call('strlen',KEYS[2])>0 then return 0 end "
        + "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 end "
        + "if redis.call('get',KEYS[1])=='-' then return 2 end return 0"
    /// Compares the owner and declines, for longer than others wait between two looks.
    private static let refusal =
        "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('set',KEYS[1],'-','PX',250) end return 0"
    /// Compares the owner and renews.
    private static let renewal =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"
    /// Compares the owner and deletes.
    private static let deletion =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"

    let client: RedisClient
    private let patience: UInt64
    /// Larger values would delay the commands of others.
    let mostValueByteCount = 1 << 20
    let mostPendingByteCount = 8 << 20

    init(_ client: RedisClient, patience: UInt64) {
        self.client = client
        self.patience = patience
    }

    func read(_ name: String, completion: @escaping @Sendable (RemoteRead) -> Void) {
        client.send(RedisCommand("GET", name), key: name, patience: patience) { result in
            switch result {
            case .success(.bytes(let data)): completion(.value(data))
            case .success(.null): completion(.absent)
            default: completion(.failed)
            }
        }
    }

    func write(_ value: Data, as name: String, seconds: Int, completion: @escaping @Sendable (Bool) -> Void) {
        let command = RedisCommand("SET", name).with(value).with("EX", String(seconds))
        client.send(command, key: name, patience: Self.writePatience) { result in
            if case .success(let reply) = result { completion(reply.isOK) } else { completion(false) }
        }
    }

    func remove(_ name: String) {
        client.send(RedisCommand("DEL", name), key: name, patience: Self.writePatience) { _ in }
    }

    func readEnd(_ name: String, count: Int, completion: @escaping @Sendable ((end: Data, byteCount: Int)?) -> Void) {
        let command = RedisCommand("EVAL", Self.end, "1", name, String(count))
        client.send(command, key: name, patience: Self.writePatience) { result in
            guard case .success(.array(let parts)) = result, parts.count == 2, case .number(let count) = parts[0],
                let end = parts[1].data, let count = Int(exactly: count), count >= end.count
            else { return completion(nil) }
            completion((end, count))
        }
    }

    func overwrite(_ pieces: [RemotePiece], of name: String, ifAt offset: Int, _ bytes: Data, seconds: Int) {
        var command = RedisCommand("EVAL", Self.change, "1", name).with(bytes).with(String(seconds), String(offset))
        for piece in pieces { command = command.with(String(piece.offset)).with(piece.bytes) }
        client.send(command, key: name, patience: Self.writePatience) { _ in }
    }

    func generation(orNew new: String, completion: @escaping @Sendable (String?) -> Void) {
        let name = RemoteNames.generation
        let command = RedisCommand("EVAL", Self.generation, "1", name, new)
        client.send(command, key: name, patience: patience) { completion((try? $0.get())?.text) }
    }

    func setGeneration(_ new: String, completion: @escaping @Sendable (Bool) -> Void) {
        let name = RemoteNames.generation
        client.send(RedisCommand("SET", name, new), key: name, patience: Self.writePatience) { result in
            completion((try? result.get())?.isOK ?? false)
        }
    }

    func add(_ counts: [(name: String, count: Int)], completion: @escaping @Sendable (Bool) -> Void) {
        let name = RemoteNames.statistics
        var command = RedisCommand("EVAL", Self.sum, "1", name)
        for (name, count) in counts { command = command.with(name, String(count)) }
        client.send(command, key: name, patience: patience) { completion((try? $0.get()) == .number(1)) }
    }

    var circuits: RemoteCircuits { client.circuits }

    func acquire(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) {
        let milliseconds = String(lease.milliseconds)
        let keys = [lease.name] + [lease.absentEntry].compactMap(\.self)
        var command = RedisCommand("EVAL", Self.acquisition, String(keys.count))
        for word in keys + [lease.owner, milliseconds] { command = command.with(word) }
        client.send(command, key: lease.name, patience: patience) { result in
            switch result {
            case .success(.number(1)): completion(true)
            case .success(.number(0)): completion(false)
            default: completion(nil)
            }
        }
    }

    func renew(_ lease: RemoteLease, completion: @escaping @Sendable (Bool?) -> Void) {
        let command = RedisCommand("EVAL", Self.renewal, "1", lease.name, lease.owner, String(lease.milliseconds))
        client.send(command, key: lease.name, patience: patience) { result in
            if case .success(.number(let number)) = result { completion(number == 1) } else { completion(nil) }
        }
    }

    func release(_ lease: RemoteLease) { end(lease, Self.deletion) }

    func decline(_ lease: RemoteLease) { end(lease, Self.refusal) }

    private func end(_ lease: RemoteLease, _ script: String) {
        let command = RedisCommand("EVAL", script, "1", lease.name, lease.owner)
        client.send(command, key: lease.name, patience: Self.writePatience) { _ in }
    }
}
