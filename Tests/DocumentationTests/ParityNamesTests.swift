import FoundationEssentials
import TestSupport
import Testing

/// The public names that `Scripts/parity-names` finds.
@Suite struct ParityNamesTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: folder.path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func list(_ header: String) async throws -> ProgramRun {
        try write("Pod::Spec.new do |s|\n  s.version = '5.99.1'\nend\n", to: "SDWebImage.podspec")
        try write(header, to: "SDWebImage/Core/Header.h")
        try write("@interface Hidden : NSObject\n@end\n", to: "SDWebImage/Private/Hidden.h")
        return try await ProgramRun.run(
            "/usr/bin/python3",
            [Fixtures.path("../../Scripts/parity-names"), folder.path],
            directory: folder.path
        )
    }

    @Test func `Every kind of public declaration is listed once, by its name`() async throws {
        let run = try await list(
            """
            /* @property NSString *inComment; */
            #define NS_ENUM(type, name) enum name
            #define SD_FLAG 1
            @class Forward;
            typedef NS_OPTIONS(NSUInteger, Choice) { ChoiceA = 1 << 0, /* text, text */ ChoiceB NS_SWIFT_NAME(b) = 2 };
            typedef NSString * Key NS_STRING_ENUM;
            typedef void(^Block)(NSArray<NSString *> * _Nullable images, BOOL (^inner)(int a));
            typedef struct Pair { int first; } Pair;
            FOUNDATION_EXPORT Key _Nonnull const KeyOne;
            FOUNDATION_EXPORT const unsigned char Version[];
            FOUNDATION_EXPORT UIImage * _Nullable Scale(CGFloat scale, UIImage * _Nullable image);
            static inline size_t Align(size_t size) { return size; }
            @protocol Loading <NSObject>
            @optional
            - (BOOL)canLoad:(nullable NSURL *)url API_DEPRECATED("no; never", macos(10.10, 10.11));
            @end
            @interface Loader : NSObject <Loading>
            @property (nonatomic, copy, nullable) void (^handler)(NSInteger count);
            @property (class, readonly, nonnull) NSArray<id<Loading>> *loaders NS_SWIFT_NAME(all);
            - (void)load:(NSURL *)url
                progress:(void (^ _Nullable)(double part))progress NS_SWIFT_NAME(load(_:progress:));
            - (nonnull instancetype)init NS_UNAVAILABLE;
            @end
            @interface UIView (Loading)
            - (void)sd_cancel;
            @end
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output.split(separator: "\n") == [
                "SDWebImage 5.99.1", "Align", "Block", "Choice", "ChoiceA", "ChoiceB", "Key", "KeyOne", "Loader",
                "Loading",
                "Pair", "SD_FLAG", "Scale", "Version", "canLoad:", "handler", "load:progress:", "loaders", "sd_cancel",
            ]
        )
    }

    @Test func `A declaration that cannot be parsed is an error`() async throws {
        let run = try await list("struct Pair { int first; } pair, other[2];\n")
        #expect(run.status == 1 && run.errors.contains("not understood"))
    }
}
