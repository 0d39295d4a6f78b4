#pragma once
#include <stddef.h>
#include <zimg.h>
