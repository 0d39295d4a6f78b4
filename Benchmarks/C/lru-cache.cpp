// lru-cache ENTRIES LOOKUPS: hits of the cache that most programs write: a hash table and a list under a mutex, the entry that was
// found moves to the front. Keys are looked up by copies of their own, in random order; what is found is shared with its finder.
// Time per hit, the best of many short runs: whatever else the machine does can only add to one.
extern "C" {
#include "bench.h"
}

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Picture {
    std::vector<unsigned char> pixels = std::vector<unsigned char>(12);
};

class Cache {
public:
    ~Cache() { pthread_mutex_destroy(&mutex); }

    void set(const std::string &key, std::shared_ptr<Picture> value) {
        pthread_mutex_lock(&mutex);
        entries.emplace_front(key, std::move(value));
        places[key] = entries.begin();
        pthread_mutex_unlock(&mutex);
    }

    std::shared_ptr<Picture> find(const std::string &key) {
        pthread_mutex_lock(&mutex);
        std::shared_ptr<Picture> result;
        auto place = places.find(key);
        if (place != places.end()) {
            entries.splice(entries.begin(), entries, place->second);
            result = place->second->second;
        }
        pthread_mutex_unlock(&mutex);
        return result;
    }

private:
    using Entries = std::list<std::pair<std::string, std::shared_ptr<Picture>>>;

    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Entries entries;
    std::unordered_map<std::string, Entries::iterator> places;
};

}  // namespace

int main(int count, char **arguments) {
    if (count != 3) die("usage: lru-cache ENTRIES LOOKUPS");
    size_t size = static_cast<size_t>(atoi(arguments[1])), lookups = static_cast<size_t>(atoi(arguments[2]));
    if (size == 0) die("there is nothing to look up");
    Cache cache;
    std::vector<std::string> copies;
    for (size_t i = 0; i < size; i++) {
        std::string name = "https://pictures.example.com/albums/2024/05/photo-" + std::to_string(i) + "-1600x1200.jpg";
        cache.set(name, std::make_shared<Picture>());
        copies.push_back(name);
    }
    std::vector<size_t> order(size);
    for (size_t i = 0; i < size; i++) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    const int runs = 60;
    double best = 0;
    size_t position = 0;
    for (int run = 0; run < runs; run++) {
        size_t found = 0;
        double start = seconds_now();
        for (size_t i = 0; i < lookups; i++) {
            if (cache.find(copies[order[position]])) found++;
            if (++position == size) position = 0;
        }
        double time = (seconds_now() - start) * 1e9 / static_cast<double>(lookups);
        if (run == 0 || time < best) best = time;
        if (found != lookups) die("something was not found");
    }
    report("hit", best, "ns");
    return 0;
}
