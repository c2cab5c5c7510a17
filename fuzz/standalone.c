/* Runs a fuzz target without libFuzzer: standalone SECONDS SEED FOLDER. Every file of the folder once, then mutations
 * of them until the time is up, the same ones for the same seed. Blind: it does not see what an input reaches. For
 * machines whose compiler is gcc. */
#include <dirent.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_INPUTS = 8192, MOST_BYTES = 600, MOST_CHANGES = 5 };

typedef struct {
    uint8_t *bytes;
    size_t size;
} input;

static input inputs[MOST_INPUTS];
static size_t input_count;
static uint64_t state;
static input current; /* what is run now, for the report */

/* xorshift64*, by Vigna: https://doi.org/10.1145/2845077 */
static uint64_t random_below(uint64_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * UINT64_C(0x2545F4914F6CDD1D) >> 32) % limit;
}

static void report(void)
{
    static const char digits[] = "0123456789abcdef";
    static char line[2 * MOST_BYTES + 1];
    size_t used = 0;
    for (size_t i = 0; i < current.size && i < MOST_BYTES; i++) {
        line[used++] = digits[current.bytes[i] >> 4];
        line[used++] = digits[current.bytes[i] & 15];
    }
    line[used++] = '\n';
    static const char title[] = "the input, in hexadecimal: ";
    if (write(STDERR_FILENO, title, sizeof title - 1) < 0 || write(STDERR_FILENO, line, used) < 0)
        _exit(2);
}

static void on_signal(int number)
{
    report();
    signal(number, SIG_DFL);
    raise(number);
}

/* In a block of just its size, so that AddressSanitizer sees reads past its end. */
static void run(const uint8_t *bytes, size_t size)
{
    current = (input){malloc(size), size};
    if (current.bytes == NULL)
        abort();
    memcpy(current.bytes, bytes, size);
    LLVMFuzzerTestOneInput(current.bytes, size);
    free(current.bytes);
    current = (input){NULL, 0};
}

static void read_inputs(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort); /* the seed fixes nothing in an order that changes */
    for (int i = 0; i < count; i++) {
        char path[4096];
        uint8_t bytes[MOST_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *file = entries[i]->d_name[0] == '.' || input_count == MOST_INPUTS ? NULL : fopen(path, "rb");
        free(entries[i]);
        if (file == NULL)
            continue;
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        inputs[input_count] = (input){malloc(size + 1), size};
        memcpy(inputs[input_count++].bytes, bytes, size);
    }
    if (count >= 0)
        free(entries);
}

static size_t mutate(uint8_t *bytes, size_t size)
{
    static const uint8_t edges[] = {0, 1, 2, 3, 7, 8, 63, 64, 127, 128, 254, 255};
    size_t at = size == 0 ? 0 : random_below(size);
    switch (random_below(6)) {
    case 0:
        if (size > 0)
            bytes[at] ^= (uint8_t)(1u << random_below(8));
        return size;
    case 1:
        if (size > 0)
            bytes[at] = (uint8_t)random_below(256);
        return size;
    case 2:
        if (size > 0)
            bytes[at] = edges[random_below(sizeof edges)];
        return size;
    case 3: /* a byte more */
        if (size == MOST_BYTES)
            return size;
        memmove(bytes + at + 1, bytes + at, size - at);
        bytes[at] = (uint8_t)random_below(256);
        return size + 1;
    case 4: /* some bytes fewer */
        if (size > 0) {
            size_t gone = 1 + random_below(size - at < 8 ? size - at : 8);
            memmove(bytes + at, bytes + at + gone, size - at - gone);
            return size - gone;
        }
        return size;
    default: { /* a part of another input in place of what is there */
        const input *other = &inputs[random_below(input_count)];
        size_t from = other->size == 0 ? 0 : random_below(other->size), part = other->size - from;
        part = part < size - at ? part : size - at;
        memcpy(bytes + at, other->bytes + from, part);
        return size;
    }
    }
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: %s SECONDS SEED FOLDER\n", arguments[0]);
        return 2;
    }
    double seconds = strtod(arguments[1], NULL);
    state = strtoull(arguments[2], NULL, 10) | 1;
    read_inputs(arguments[3]);
    if (input_count == 0) {
        fprintf(stderr, "%s holds no inputs\n", arguments[3]);
        return 2;
    }
    signal(SIGILL, on_signal); /* what EXPECT raises */
    __sanitizer_set_death_callback(report);

    for (size_t i = 0; i < input_count; i++) run(inputs[i].bytes, inputs[i].size);
    uint64_t executions = input_count;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 256; i++, executions++) {
            const input *chosen = &inputs[random_below(input_count)];
            uint8_t bytes[MOST_BYTES];
            size_t size = chosen->size;
            memcpy(bytes, chosen->bytes, size);
            for (uint64_t changes = 1 + random_below(MOST_CHANGES); changes > 0; changes--) size = mutate(bytes, size);
            run(bytes, size);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < seconds);
    printf("%llu executions, %zu of them as they are kept\n", (unsigned long long)executions, input_count);
    return 0;
}
