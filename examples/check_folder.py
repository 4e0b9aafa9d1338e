"""Check every config.json below a folder, and exit with 1 where one has an error.

Run: python -m examples.check_folder path/to/models
"""

import sys
from pathlib import Path

import rope_core as rc

errors = 0
for path in sorted(Path(sys.argv[1]).rglob("config.json")):
    try:
        findings = rc.check(path)
    except rc.ConfigError as error:
        print(f"{path.parent.name}: {error}")
        errors += 1
        continue
    for finding in findings:
        print(f"{path.parent.name}: {finding.severity}: {finding.title()} ({finding.field})")
        errors += finding.severity == "error"
sys.exit(errors > 0)
