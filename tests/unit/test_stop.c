/** Signals that are noted or end the process, time spans, and how long chunks become. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/stop.h"
#include "tests/unit/scratch.h"

static void nap(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

/* A process of its own: what it heard as exit code, or the signal that ended it, negative. */
static int signalled(int number, int n, double pause)
{
    int code = 0;
    const pid_t child = fork();
    if (child == 0) {
        gm_stop_listen();
        for (int i = 0; i < n; i++) {
            if (i > 0) nap(pause);
            raise(number);
        }
        _exit((int)gm_stop_signal());
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    return WIFSIGNALED(code) ? -WTERMSIG(code) : WEXITSTATUS(code);
}

static void a_signal_is_noted_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(gm_stop_signal(), GM_STOP_NONE);
    assert_int_equal(signalled(SIGTERM, 1, 0), GM_STOP_SIGTERM);
    assert_int_equal(signalled(SIGINT, 1, 0), GM_STOP_SIGINT);
    assert_int_equal(signalled(SIGUSR1, 1, 0), GM_STOP_SIGUSR1);
    assert_string_equal(gm_stop_text(GM_STOP_SIGUSR1), "SIGUSR1");
}

static void a_second_signal_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(signalled(SIGTERM, 2, 1.2), -SIGTERM);
    assert_int_equal(signalled(SIGUSR1, 2, 1.2), -SIGUSR1);
}

static void one_wish_that_arrives_twice_is_one(void **state)
{
    (void)state;
    assert_int_equal(signalled(SIGTERM, 3, 0.1), GM_STOP_SIGTERM);
}

static void a_rule_ends_a_run_by_time_or_file(void **state)
{
    (void)state;
    put_text("run.h5.stop", "");
    gm_stop_rule never = {0};
    gm_stop_rule later = {.at = gm_clock_seconds() + 100};
    gm_stop_rule past = {.at = gm_clock_seconds()};
    gm_stop_rule file = {.file = path};
    gm_stop_rule absent = {.file = "/nowhere/run.h5.stop"};
    assert_int_equal(gm_stop_check(&never), GM_STOP_NONE);
    assert_int_equal(gm_stop_check(&later), GM_STOP_NONE);
    assert_int_equal(gm_stop_check(&past), GM_STOP_TIME);
    assert_int_equal(gm_stop_check(&file), GM_STOP_FILE);
    assert_int_equal(gm_stop_check(&file), GM_STOP_NONE); /* not looked for at every chunk */
    assert_int_equal(gm_stop_check(&absent), GM_STOP_NONE);
}

static void time_spans_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"90", 90},      {"90s", 90},          {"5m", 300},      {"1h", 3600},
                {"2h30m", 9000}, {"1d2h", 93600},      {"1h0m1s", 3601}, {"1:30:00", 5400},
                {"0:00:01", 1},  {"100:00:00", 360000}};
    static const char *const bad[] = {"",     "0",       "0s",          "-5",   "5x",
                                      "m",    "5m2h",    "5 m",         "1.5h", "1:30",
                                      "1::0", "1:60:00", "1h30",        "1e3",  "inf",
                                      ":1:1", "1:2:3:4", "99999999999", "5m5m", "1:2:3s"};
    double seconds = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(gm_stop_read_span(good[i].text, &seconds));
        assert_true(seconds == good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (gm_stop_read_span(bad[i], &seconds)) fail_msg("\"%s\" was taken as a time", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_is_noted_by_its_name),
        cmocka_unit_test(a_second_signal_ends_the_process),
        cmocka_unit_test(one_wish_that_arrives_twice_is_one),
        cmocka_unit_test(a_rule_ends_a_run_by_time_or_file),
        cmocka_unit_test(time_spans_are_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
