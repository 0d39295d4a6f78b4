#pragma once
#include <stddef.h>
#include <sys/types.h>
#include <md5.h>
