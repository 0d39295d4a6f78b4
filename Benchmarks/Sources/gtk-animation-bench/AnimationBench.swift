import BenchSupport

@main struct AnimationBench {
    static func main() {}
}
