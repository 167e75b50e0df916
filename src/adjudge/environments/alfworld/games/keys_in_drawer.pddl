; A living room: the keys lie on the sofa; the drawer is closed.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem keys_in_drawer)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    sofa_bar_1 coffeetable_bar_1 drawer_bar_1 shelf_bar_1 - receptacle
    pillow_bar_1 keychain_bar_1 newspaper_bar_1 remotecontrol_bar_1 pen_bar_1 vase_bar_1 - object
    CoffeeTableType DrawerType FridgeType MicrowaveType ShelfType SinkBasinType SofaType - rtype
    ButterKnifeType KeyChainType KnifeType NewspaperType PenType PillowType RemoteControlType VaseType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation sofa_bar_1 loc_1) (receptacleType sofa_bar_1 SofaType)
    (receptacleAtLocation coffeetable_bar_1 loc_2) (receptacleType coffeetable_bar_1 CoffeeTableType)
    (receptacleAtLocation drawer_bar_1 loc_3) (receptacleType drawer_bar_1 DrawerType) (openable drawer_bar_1)
    (receptacleAtLocation shelf_bar_1 loc_4) (receptacleType shelf_bar_1 ShelfType)
    (inReceptacle pillow_bar_1 sofa_bar_1) (objectAtLocation pillow_bar_1 loc_1) (objectType pillow_bar_1 PillowType) (pickupable pillow_bar_1)
    (inReceptacle keychain_bar_1 sofa_bar_1) (objectAtLocation keychain_bar_1 loc_1) (objectType keychain_bar_1 KeyChainType) (pickupable keychain_bar_1)
    (inReceptacle newspaper_bar_1 coffeetable_bar_1) (objectAtLocation newspaper_bar_1 loc_2) (objectType newspaper_bar_1 NewspaperType) (pickupable newspaper_bar_1)
    (inReceptacle remotecontrol_bar_1 coffeetable_bar_1) (objectAtLocation remotecontrol_bar_1 loc_2) (objectType remotecontrol_bar_1 RemoteControlType) (pickupable remotecontrol_bar_1)
    (inReceptacle pen_bar_1 drawer_bar_1) (objectAtLocation pen_bar_1 loc_3) (objectType pen_bar_1 PenType) (pickupable pen_bar_1)
    (inReceptacle vase_bar_1 shelf_bar_1) (objectAtLocation vase_bar_1 loc_4) (objectType vase_bar_1 VaseType) (pickupable vase_bar_1)
    (canContain CoffeeTableType KeyChainType) (canContain CoffeeTableType NewspaperType) (canContain CoffeeTableType PenType) (canContain CoffeeTableType PillowType) (canContain CoffeeTableType RemoteControlType) (canContain CoffeeTableType VaseType)
    (canContain DrawerType KeyChainType) (canContain DrawerType NewspaperType) (canContain DrawerType PenType) (canContain DrawerType PillowType) (canContain DrawerType RemoteControlType) (canContain DrawerType VaseType)
    (canContain ShelfType KeyChainType) (canContain ShelfType NewspaperType) (canContain ShelfType PenType) (canContain ShelfType PillowType) (canContain ShelfType RemoteControlType) (canContain ShelfType VaseType)
    (canContain SofaType KeyChainType) (canContain SofaType NewspaperType) (canContain SofaType PenType) (canContain SofaType PillowType) (canContain SofaType RemoteControlType) (canContain SofaType VaseType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o KeyChainType) (receptacleType ?r DrawerType) (inReceptacle ?o ?r))))
  (:metric minimize (total-cost))
)
