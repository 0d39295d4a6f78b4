/// Items in lists, from the most to the least recently used; an item is in one list at most.
struct LinkedItems {
    private var next: [Int32]
    private var previous: [Int32]
    private var listOf: [Int8]
    private(set) var cost: [Int]
    private(set) var count: [Int]
    private let itemCount: Int

    init(itemCount: Int, lists: Int) {
        self.itemCount = itemCount
        next = (0..<itemCount + lists).map { Int32($0) }
        previous = next
        listOf = Array(repeating: -1, count: itemCount)
        cost = Array(repeating: 0, count: lists)
        count = cost
    }

    /// The list that holds the item, -1 for none.
    func list(of item: Int) -> Int { Int(listOf[item]) }

    /// The least recently used item of a list.
    func last(of list: Int) -> Int? {
        let item = Int(previous[itemCount + list])
        return item < itemCount ? item : nil
    }

    mutating func remove(_ item: Int, cost itemCost: Int) {
        let list = Int(listOf[item])
        next[Int(previous[item])] = next[item]
        previous[Int(next[item])] = previous[item]
        listOf[item] = -1
        cost[list] -= itemCost
        count[list] -= 1
    }

    mutating func insertFirst(_ item: Int, cost itemCost: Int, into list: Int) {
        let head = itemCount + list
        next[item] = next[head]
        previous[item] = Int32(head)
        previous[Int(next[head])] = Int32(item)
        next[head] = Int32(item)
        listOf[item] = Int8(list)
        cost[list] += itemCost
        count[list] += 1
    }

    mutating func move(_ item: Int, cost itemCost: Int, to list: Int) {
        remove(item, cost: itemCost)
        insertFirst(item, cost: itemCost, into: list)
    }
}
