"""Everything is said in pyproject.toml but the tag: any Python 3 on any Linux with this processor and a glibc as old as COREML_GLIBC
says, which scripts/build-wheel sets to what it linked the library for."""
import os
import platform

from setuptools import setup
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        glibc = os.environ.get("COREML_GLIBC")
        if glibc is None:
            raise SystemExit("swift-coreml: run scripts/build-wheel, which links the library that the wheel carries")
        return "py3", "none", f"manylinux_{glibc.replace('.', '_')}_{platform.machine()}"


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
