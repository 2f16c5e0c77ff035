"""Everything is said in pyproject.toml but the tag: any Python 3, this processor, glibc as old as scripts/build-wheel says."""
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
        glibc = os.environ["COREML_GLIBC"].replace(".", "_")
        return "py3", "none", f"manylinux_{glibc}_{platform.machine()}"


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
