"""The watch over browsers of tests sees what it is there for."""

from __future__ import annotations

import pytest

from tests.support.browser.watch import BrowserWatch

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

FAULTY = """
<script>
  console.error("planted");
  console.error("expected");
  console.warn("of no interest");
  setTimeout(() => { throw Error("thrown"); });
</script>
<img src="http://nowhere.invalid/x.png" onerror="setTimeout(() => (document.title = 'done'), 50)">
"""


PICTURES = ["last-0.png", "last-1.png"]


def test_errors_and_requests_to_other_hosts_are_seen_on_every_page(headless_shell, tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=headless_shell, args=["--no-sandbox"])
        watch = BrowserWatch(opened, ["expected", "net::ERR"])
        for page in (opened.new_page(), opened.new_context().new_page()):
            page.set_content(FAULTY)
            page.wait_for_function("document.title === 'done'")
            faults = sorted(fault.partition(" (")[0] for fault in watch.faults)
            watch.faults.clear()
            assert faults == [
                "planted",
                "request to http://nowhere.invalid/x.png",
                "uncaught: thrown",
            ]
        page.set_content(FAULTY)
        watch.end(tmp_path)
        assert opened.contexts == []
        assert [picture.name for picture in sorted(tmp_path.iterdir())] == PICTURES
        faults = list(watch.faults)
        later = opened.new_page()
        later.set_content(FAULTY)
        later.wait_for_function("document.title === 'done'")
        assert watch.faults == faults
        opened.close()
