"""The profiles of the live page: one is in use at a time, clean or named; those that have a name are kept."""

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWebEngineCore import QWebEngineDownloadRequest, QWebEngineProfile, QWebEngineSettings

from core.browser.host import profile_folder


class PageProfiles(QObject):
    """Makes profiles, and lets go of those that are not needed any more."""

    download_requested = Signal(QWebEngineDownloadRequest)

    def __init__(self, folder: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        data = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)
        self.folder = folder or f"{data}/profiles"
        """Where those with a name are kept."""
        self.current: QWebEngineProfile | None = None
        self._kept: dict[str, QWebEngineProfile] = {}

    def get(self, name: str | None) -> QWebEngineProfile:
        """Return a clean profile, or the one of that name; raises UsageError for a name that cannot be used."""
        return self._named(name) if name else QWebEngineProfile(self)

    def use(self, profile: QWebEngineProfile) -> None:
        """Go on with a profile; the one before, whose pages are gone, is let go of."""
        old, self.current = self.current, profile
        # A link to a program such as mail would start it, outside the window.
        unknown = QWebEngineSettings.UnknownUrlSchemePolicy.DisallowUnknownUrlSchemes
        profile.settings().setUnknownUrlSchemePolicy(unknown)
        # What the person allows is not allowed to the agent afterwards.
        policy = QWebEngineProfile.PersistentPermissionsPolicy.AskEveryTime
        profile.setPersistentPermissionsPolicy(policy)
        if old is profile:
            return
        profile.downloadRequested.connect(self.download_requested)
        if old is not None:
            old.downloadRequested.disconnect(self.download_requested)
            if old not in self._kept.values():
                old.deleteLater()

    def close(self) -> list[QObject]:
        """Let go of all, and return them: at the end of the program no loop runs that would delete them."""
        going: set[QObject] = {*self._kept.values(), *([self.current] if self.current is not None else [])}
        self.current = None
        self._kept.clear()
        for profile in going:
            profile.deleteLater()
        return list(going)

    def _named(self, name: str) -> QWebEngineProfile:
        # The engine wants one profile object a folder: it is kept until the end.
        if name not in self._kept:
            folder = str(profile_folder(self.folder, name))
            profile = QWebEngineProfile(name, self)
            profile.setPersistentStoragePath(folder)
            profile.setCachePath(f"{folder}/cache")
            profile.setPersistentCookiesPolicy(
                QWebEngineProfile.PersistentCookiesPolicy.ForcePersistentCookies
            )
            self._kept[name] = profile
        return self._kept[name]
