# What the tests of the host tool and of the parameter image link; test_appell.py runs $(APPELL_SAN), which
# tools/appell/appell.mk builds for it.
TEST_SRC_image         := firmware/core/image.c
TESTS_HOST             += appell_number
TEST_SRC_appell_number := tools/appell/number.c
